/** Wires the loop, threads, jobs and safety together into the services that channels use. */
import { join } from "node:path";
import { reason, type Services, type StartContext } from "../../kernel/plugin.ts";
import { createLimiter } from "../../kernel/store/limits/limiter.ts";
import { createAgent } from "./agent.ts";
import { createCondensing } from "./context/condensing.ts";
import { openOperatorFiles } from "./context/files/open.ts";
import { identityPrompt } from "./context/identity.ts";
import { createMissions } from "./context/missions.ts";
import { createSkills } from "./context/skills.ts";
import { createContext } from "./context/window.ts";
import { createIdentities } from "./jobs/identities.ts";
import { createJobs } from "./jobs/jobs.ts";
import { createJobTable } from "./jobs/table.ts";
import { createPersonalRemoval, createUserRemoval } from "./jobs/user-removal.ts";
import { MIGRATIONS as WEBHOOK_IDENTITIES } from "./jobs/webhook-identities.ts";
import { closeOrphans, followDeaths } from "./live/takeover.ts";
import { createMemory } from "./memory/memory.ts";
import { createBuiltinModel } from "./models/builtin/model.ts";
import { createModels } from "./models/choose.ts";
import type { Model } from "./models/model.ts";
import { createApprovals } from "./safety/approvals.ts";
import { createDestinations } from "./safety/provenance/destinations.ts";
import { createExplaining } from "./safety/provenance/explaining.ts";
import { createStoredTraces } from "./safety/provenance/stored-trace.ts";
import { createTurnGates } from "./safety/provenance/turn-gates.ts";
import type { AgentSettings } from "./settings.ts";
import { readPrices } from "./spending/cost.ts";
import { createSpending } from "./spending/spending.ts";
import { createHistory } from "./threads/history.ts";
import { createLedger } from "./threads/ledger.ts";
import { MIGRATIONS } from "./threads/tables.ts";
import { createThreads } from "./threads/threads.ts";
import { createAdmission } from "./turn/admission.ts";
import { createToolCalls } from "./turn/direct-calls.ts";
import { createTurnRunner, type RunnerParts } from "./turn/runner.ts";
import { isReservedName, toolNames } from "./turn/toolbox.ts";
import { createToolIndexes } from "./turn/tools/tool-index.ts";

const NO_MEMORY = { readTexts: async () => new Map<string, string>() };
const NO_MISSIONS = { prompt: "", requiredTools: [] };

type Provided =
  | "agent"
  | "threads"
  | "jobs"
  | "memory"
  | "skills"
  | "approvals"
  | "destinations"
  | "provenance"
  | "identities"
  | "externalTools"
  | "toolCalls"
  | "chatLimit";

export async function startAgent({
  config,
  use,
  home,
  log,
  onStop,
  onDrain,
  announce,
}: StartContext<AgentSettings, "store" | "kernel", "tools">): Promise<Pick<Services, Provided>> {
  const sql = await use.store.tables("agent", MIGRATIONS);
  const { mask } = use.kernel;
  const { node, signals } = use.store;
  const ledger = createLedger(sql, node);
  const memory = await createMemory({ store: use.store, vectors: config.memoryVectors, log });
  onStop(() => memory.close());
  const operator = await openOperatorFiles(use.store, home, log);
  onStop(() => operator.close());
  const { files } = operator;
  const skills = createSkills(files);
  const missions = await createMissions(use.store);
  // Its own, because it needs the tables of all three.
  await use.store.tables("webhook identities", WEBHOOK_IDENTITIES);
  const prices = await readPrices(files);
  onStop(files.onChange(() => void prices.readAgain().catch((error) => log.warn({ error }, reason(error)))));
  const models = createModels(config.model, createBuiltinModel(), prices, log);
  const approvals = createApprovals(sql);
  const own = [...memory.tools, ...skills.tools, ...missions.tools];
  // A skill is there to be followed; memory and missions may hold what a page once said.
  const trusted = new Set(skills.tools.map((tool) => tool.name));
  const history = createHistory(sql, { mask, trusted });
  const sources = {
    own,
    host: use.tools,
    rules: config.approvals,
    approvals,
    mostOffered: config.toolsOffered,
    index: createToolIndexes(),
    provenance: config.provenance.mode,
  };
  const destinations = createDestinations(sql);
  const ownNames = new Set(own.map(({ name }) => name));
  const isOwn = (tool: string) => ownNames.has(tool);
  const stored = createStoredTraces(sql, isOwn);
  const gateParts = { settings: config.provenance, destinations, followed: trusted, mask, stored, isOwn };
  const gates = createTurnGates(gateParts);
  const warned = new Set<string>();
  const warnUncounted = (cap: string, chain: readonly Model[]): void => {
    const names = chain.flatMap(({ name }) => (prices.isUnknown(name) ? [name.name] : [])).join(", ");
    if (names === "" || warned.has(`${cap} ${names}`)) return;
    warned.add(`${cap} ${names}`);
    log.warn(`${cap} does not count ${names}: add the price to ${join(home, "prices.json")}`);
  };
  const preface: RunnerParts["preface"] = async (user, allows) => {
    const [identity, { prompt, requiredTools }, skill] = await Promise.all([
      identityPrompt(files, allows("memory_read") ? memory : NO_MEMORY, user),
      allows("mission_list") ? missions.inForce(user) : NO_MISSIONS,
      allows("skill_load") ? skills.prompt() : "",
    ]);
    return { sections: [identity, prompt, skill], requiredTools, persons: [identity, skill] };
  };
  const shared = { models, prices, spending: createSpending(sql, config.dailyUsdCap), sources, preface };
  const runner = createTurnRunner({
    ...shared,
    context: createContext(sql, history),
    mask,
    trusted,
    gates,
    log,
    maxToolCalls: config.maxToolCalls,
    onTokenCap: (chain) => warnUncounted("the daily cap of a token", chain),
  });
  const agent = createAgent({
    ledger,
    runner,
    node,
    signals,
    log,
    idleSecs: config.turnIdleSecs,
    admit: createAdmission({
      sources,
      models,
      toolsOf: ledger.tools,
    }),
    forget(thread) {
      history.forget(thread);
      stored.forget(thread);
    },
    async remember(user, { remember, destinations: given }) {
      if (remember) await approvals.remember(user, remember.tool, "allow", remember.fingerprint);
      if (given) for (const value of given.values) await destinations.add({ user, tool: given.tool, value });
    },
  });
  const readTurn = async (user: string, id: string) => threads.turn(user, id);
  const threads = createThreads(sql, agent.cancelThread);
  const jobs = createJobs({
    table: createJobTable(sql, node),
    agent,
    store: use.store,
    turn: threads.turn,
    log,
    concurrency: config.jobsConcurrency,
    retentionDays: config.jobsRetentionDays,
  });
  const identities = createIdentities({ sql, jobs, giveMemory: memory.giveAll });
  onStop(async () => {
    jobs.stop();
    await agent.stop();
    await jobs.idle();
    if (use.kernel.serving) await jobs.handBack();
  });
  const chatLimit = createLimiter({
    name: "chat",
    windows: [{ limit: config.chatRateLimit, seconds: 60 }],
    store: use.store,
  });
  onStop(() => chatLimit.close());
  onDrain(async () => {
    jobs.stop();
    await agent.drain();
    await jobs.idle();
  });
  if (use.kernel.serving) {
    const deaths = { ledger, agent, jobs, readTurn, log };
    const interrupted = await closeOrphans(deaths);
    if (interrupted > 0) log.warn({ turns: interrupted }, "turns were interrupted when the service stopped");
    await jobs.start();
    // On SQLite the only other process is a command, which looks after its own turn.
    if (sql.engine === "postgres") onStop(followDeaths(use.store, deaths));
  }
  const show = () => announce(`${models.name().name} (${models.name().provider})`);
  show();
  void models.current().then((chain) => {
    show();
    if (config.dailyUsdCap !== undefined) warnUncounted("DAILY_USD_CAP", chain);
  });
  const removeUser = createUserRemoval({
    sql,
    threads,
    jobs,
    memory,
    removeElsewhere: createPersonalRemoval(use.store, use.kernel),
    cancelThread: agent.cancelThread,
  });
  return {
    agent: { ...agent, ...createCondensing({ ...shared, sql, history, mask, trusted }), removeUser },
    threads,
    jobs,
    memory,
    skills: { list: async () => (await skills.list()).skills, read: skills.read },
    approvals,
    destinations,
    provenance: createExplaining({
      ...gateParts,
      tools: use.tools,
      persons: async (user) => (await preface(user, () => true)).persons,
    }),
    identities,
    externalTools: {
      isReserved: (tool) => isReservedName(sources, tool),
      names: () => toolNames(sources),
      async pending(user, thread) {
        const gate = (await ledger.thread(user, thread))?.gate;
        return gate?.type === "external_tool" ? gate : undefined;
      },
    },
    toolCalls: createToolCalls(sources),
    chatLimit,
  };
}
