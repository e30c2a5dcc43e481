/** Wires the loop, threads, jobs and safety together into the services that channels use. */
import { join } from "node:path";
import { createLiveLimiter, SILENT } from "../../kernel/kit.ts";
import { type ModelName, reason, type Services, type StartContext } from "../../kernel/plugin.ts";
import type { Model } from "../../kernel/vocabulary/models/language-model.ts";
import { identityPrompt } from "../guidance/identity.ts";
import { createMissions } from "../guidance/missions.ts";
import { createSkills } from "../guidance/skills.ts";
import { openOperatorFiles } from "../home/open.ts";
import { createIdentities } from "../jobs/identities.ts";
import { createJobs } from "../jobs/queue/jobs.ts";
import { createJobTable } from "../jobs/queue/table.ts";
import { proposingTool } from "../jobs/routines/propose.ts";
import { createRoutines } from "../jobs/routines/routines.ts";
import { createMemory } from "../memory/memory.ts";
import { createBuiltinModel } from "../models/builtin/model.ts";
import { createModelCatalog } from "../models/choice/catalog.ts";
import { createModelCheck } from "../models/choice/check.ts";
import { createModels, readModelChoice } from "../models/choice/choose.ts";
import { readPrices } from "../models/spending/prices.ts";
import { createSpending } from "../models/spending/spending.ts";
import { createDestinations } from "../provenance/destinations.ts";
import { createExplaining } from "../provenance/explaining.ts";
import { createStoredTraces } from "../provenance/stored-trace.ts";
import { createTurnGates } from "../provenance/turn-gates.ts";
import { createAgent } from "./agent.ts";
import { createContext } from "./context/window.ts";
import { measureWaiting } from "./live/gauges.ts";
import { createObservers } from "./live/observer.ts";
import { createApprovals } from "./safety/approvals.ts";
import { type AgentSettings, readTurnSettings } from "./settings.ts";
import { closeOrphans, followDeaths } from "./takeover.ts";
import { createUploads } from "./threads/attachments/uploads.ts";
import { createHistory } from "./threads/history.ts";
import { createLedger } from "./threads/ledger.ts";
import { MIGRATIONS } from "./threads/tables.ts";
import { createThreads } from "./threads/threads.ts";
import { createUsage } from "./threads/usage.ts";
import { createAdmission } from "./turn/admission.ts";
import { createCondensing } from "./turn/condensing.ts";
import { createTurnRunner, type RunnerParts } from "./turn/runner.ts";
import { isReservedName, toolNames } from "./turn/toolbox.ts";
import { createToolCalls } from "./turn/tools/direct-calls.ts";
import { createToolIndexes } from "./turn/tools/tool-index.ts";
import { createPersonalRemoval, createUserRemoval } from "./user-removal.ts";

const NO_MEMORY = { readTexts: async () => new Map<string, string>() };
const NO_MISSIONS = { prompt: "", requiredTools: [] };

type Provided =
  | "agent"
  | "threads"
  | "attachments"
  | "jobs"
  | "routines"
  | "memory"
  | "skills"
  | "approvals"
  | "destinations"
  | "provenance"
  | "identities"
  | "externalTools"
  | "toolCalls"
  | "usage"
  | "chatLimit"
  | "modelCheck";

export async function startAgent({
  config,
  use,
  home,
  log,
  onStop,
  onDrain,
  announce,
  tell,
}: StartContext<AgentSettings, "store" | "settings" | "kernel", "tools" | "telemetry">): Promise<
  Pick<Services, Provided>
> {
  const sql = await use.store.tables("agent", MIGRATIONS);
  const { mask } = use.kernel;
  const telemetry = use.telemetry ?? SILENT;
  const { node, signals } = use.store;
  const ledger = createLedger(sql, node);
  const memory = await createMemory({ store: use.store, vectors: config.memoryVectors, log });
  onStop(() => memory.close());
  const operator = await openOperatorFiles(use.store, home, log);
  onStop(() => operator.close());
  const { files } = operator;
  const skills = createSkills(files);
  const missions = await createMissions(use.store);
  const prices = await readPrices(files);
  onStop(files.onChange(() => void prices.readAgain().catch((error) => log.warn({ error }, reason(error)))));
  const [choice, settings] = await Promise.all([
    use.settings.live("agent", readModelChoice),
    use.settings.live("agent", readTurnSettings),
  ]);
  const builtin = createBuiltinModel();
  const models = createModels(choice, builtin, prices, log);
  const catalog = createModelCatalog({
    models,
    prices,
    capUsd: async () => (await settings.current()).dailyUsdCap,
  });
  const chosenFor: RunnerParts["chosenFor"] = async ({ user, thread, model }) =>
    thread === undefined ? (model as ModelName | undefined) : (await ledger.thread(user, thread))?.model;
  const approvals = createApprovals(sql);
  const proposing = proposingTool({
    add: (given) => routines.add(given),
    preview: (schedule, tz) => routines.preview(schedule, tz),
  });
  const own = [...memory.tools, ...skills.tools, ...missions.tools, proposing];
  // A skill is there to be followed; memory and missions may hold what a page once said.
  const trusted = new Set(skills.tools.map((tool) => tool.name));
  const history = createHistory(sql, { mask, trusted });
  const sources = {
    own,
    host: use.tools,
    approvals,
    mostOffered: config.toolsOffered,
    index: createToolIndexes(),
  };
  const destinations = createDestinations(sql);
  const ownNames = new Set(own.map(({ name }) => name));
  const isOwn = (tool: string) => ownNames.has(tool);
  const stored = createStoredTraces(sql, isOwn);
  const gateParts = { destinations, followed: trusted, mask, stored, isOwn };
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
  const shared = { models, prices, spending: createSpending(sql), sources, preface };
  const runner = createTurnRunner({
    ...shared,
    chain: catalog.chain,
    chosenFor,
    context: createContext(sql, history),
    mask,
    trusted,
    gates,
    log,
    onCap: warnUncounted,
  });
  const observers = createObservers(telemetry, mask, log, use.kernel.serving);
  measureWaiting(telemetry, sql, node);
  const agent = createAgent({
    observers,
    ledger,
    runner,
    node,
    signals,
    log,
    settings: settings.current,
    admit: createAdmission({
      sources,
      chain: catalog.chain,
      choose: catalog.choose,
      chosenFor,
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
  const threads = createThreads(sql, { onRemove: agent.cancelThread, choose: catalog.choose });
  const attachments = createUploads({
    ...{ sql, store: use.store, models, log, fileBytes: config.attachmentsMb * 1_000_000 },
  });
  onStop(() => attachments.close());
  const jobs = createJobs({
    table: createJobTable(sql, node),
    agent,
    store: use.store,
    turn: threads.turn,
    log,
    concurrency: config.jobsConcurrency,
    retentionDays: config.jobsRetentionDays,
  });
  const routines = await createRoutines({
    store: use.store,
    clock: use.kernel.clock,
    jobs,
    turn: threads.turn,
    log,
    limits: config.routines,
    retentionDays: config.jobsRetentionDays,
    isServing: use.kernel.serving,
  });
  const identities = createIdentities({ sql, jobs, giveMemory: memory.giveAll });
  onStop(async () => {
    routines.stop();
    jobs.stop();
    await agent.stop();
    await jobs.idle();
    await routines.idle();
    if (use.kernel.serving) await jobs.handBack();
  });
  const chatLimit = createLiveLimiter({ name: "chat", store: use.store }, async () => [
    { limit: (await settings.current()).chatRateLimit, seconds: 60 },
  ]);
  onStop(() => chatLimit.close());
  onDrain(async () => {
    routines.stop();
    jobs.stop();
    await agent.drain();
    await jobs.idle();
  });
  if (use.kernel.serving) {
    const deaths = { ledger, agent, jobs, readTurn, log };
    const interrupted = await closeOrphans(deaths);
    if (interrupted > 0) log.warn({ turns: interrupted }, "turns were interrupted when the service stopped");
    await jobs.start();
    routines.start();
    // On SQLite the only other process is a command, which looks after its own turn.
    if (sql.engine === "postgres") onStop(followDeaths(use.store, deaths));
  }
  const show = () => announce(`${models.name().name} (${models.name().provider})`);
  show();
  const showModels = async () => {
    const chain = await models.current();
    show();
    if (settings.last().dailyUsdCap !== undefined) warnUncounted("DAILY_USD_CAP", chain);
  };
  void showModels().then(() => {
    if (choice.last().provider === "auto" && models.name().provider === "builtin")
      tell('No language model is set up: run "postern setup", or choose one on the page under Settings.');
  });
  onStop(choice.onChange(() => void showModels()));
  onStop(settings.onChange(() => void showModels()));
  const removeUser = createUserRemoval({
    sql,
    threads,
    jobs,
    memory,
    pauseRoutines: (user) => routines.pauseAll(user, "Its user was removed."),
    removeElsewhere: createPersonalRemoval(use.store, use.kernel),
    cancelThread: agent.cancelThread,
  });
  return {
    agent: {
      ...agent,
      models: catalog.list,
      ...createCondensing({ ...shared, sql, history, mask, trusted, settings: settings.current }),
      removeUser,
    },
    threads,
    attachments,
    jobs,
    routines,
    memory,
    skills: { list: async () => (await skills.list()).skills, read: skills.read },
    approvals,
    destinations,
    provenance: createExplaining({
      ...gateParts,
      settings: async () => (await settings.current()).provenance,
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
    toolCalls: createToolCalls(sources, settings.current),
    usage: createUsage(sql),
    chatLimit,
    modelCheck: createModelCheck({ settings: use.settings, builtin, prices, mask, log }),
  };
}
