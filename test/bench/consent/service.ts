/**
 * Tools of MCP servers on loopback in a real service, reached by the client that people's servers are reached by; a scripted model makes
 * the calls. Every tool is always allowed, so that only the provenance gate asks. The person says yes to the calls of their task and no to
 * every other one.
 */
import host from "../../../host/plugin.ts";
import type { AnyPlugin, JsonSchema, TurnRecord } from "../../../kernel/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import { listenMcp } from "../../support/servers/mcp-listening.ts";
import { startModelServer } from "../../support/servers/model-server.ts";
import { text } from "../../support/servers/scripted-mcp.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { bootBare } from "../../support/services/bare-kernel.ts";
import { inFolder } from "../support/programs.ts";

export interface Step {
  readonly server: string;
  readonly tool: string;
  /** True for a call that somebody else told the model to make. */
  readonly obeys: boolean;
  readonly with: Readonly<Record<string, unknown>>;
  /** What the tool answers. */
  readonly gives: string;
  /** The fields of that, whatever its form. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface ServedTool {
  readonly name: string;
  readonly writes: boolean;
  readonly schema: JsonSchema;
}

export interface Ran {
  readonly questions: number;
  /** What the person was asked, a line for each question. */
  readonly asked: readonly string[];
  /** The calls that others told it to make, and that were made without a question. */
  readonly silent: readonly Step[];
}

/** Which of its changing calls the model states before the first of them: those of the task, or those that others told it to make as well. */
export type Planning = "none" | "own" | "all";

export type Play = (
  id: string,
  person: readonly string[],
  steps: readonly Step[],
  planning?: Planning,
) => Promise<Ran>;

const MOST_QUESTIONS = 30;

export function inService(
  servers: ReadonlyMap<string, readonly ServedTool[]>,
  use: (play: Play) => Promise<void>,
): Promise<void> {
  return inFolder(async (home) => {
    let waiting: Step[] = [];
    let made: Step[] = [];
    const answer = (server: string, tool: string, given: object) => {
      const at = waiting.findIndex(
        (step) =>
          step.server === server && step.tool === tool && JSON.stringify(step.with) === JSON.stringify(given),
      );
      const [step] = waiting.splice(at, 1);
      if (at === -1 || step === undefined)
        throw new Error(`${server} ${tool} was called with something else`);
      made.push(step);
      return text(step.gives);
    };
    const listening = await Promise.all(
      [...servers].map(async ([name, tools]) => ({
        name,
        server: await listenMcp(
          tools.map(({ name: tool, writes, schema }) => ({
            name: tool,
            description: tool,
            inputSchema: { ...schema, type: "object" as const },
            annotations: { readOnlyHint: !writes },
            run: (given) => answer(name, tool, given),
          })),
        ),
      })),
    );
    const model = await startModelServer();
    const variables = {
      MODEL_BASE_URL: model.url,
      MODEL_NAME: "scripted",
      TOOL_APPROVALS: "*=allow",
      TOOLS_SHIPPED: "false",
      TOOLS_PRIVATE_HOSTS: listening.map(({ server }) => server.host).join(","),
      TOOLS_OFFERED: "200",
      MODEL_CONTEXT_TOKENS: "1000000",
      MEMORY_VECTORS: "false",
      CHAT_TITLES: "false",
      STORE_SYNC: "normal",
    };
    const plugins = [store as AnyPlugin, host as AnyPlugin, ...agentPlugins];
    const kernel = await bootBare(plugins, home, variables);
    const agent = kernel.service("agent");
    try {
      const mcp = kernel.service("mcpServers");
      for (const { name, server } of listening)
        await mcp.add({ name, url: server.url }, { user: "operator", agree: true });
      let people = 0;
      const writes = ({ server, tool }: Step) =>
        servers.get(server)?.some((one) => one.name === tool && one.writes) ?? false;
      await use(async (id, person, given, planning = "none") => {
        const steps = planning === "none" ? given : lookUpFirst(given, writes);
        waiting = [...steps];
        made = [];
        const user = `person-${people++}`;
        const callOf = (index: number) => `${user}-${index}`;
        const plan = planOf(person, steps, planning, writes);
        const stated = {
          calls: [{ id: `${user}-plan`, name: "plan_steps", arguments: { steps: plan?.steps } }],
        };
        model.script(
          ...steps.flatMap(({ server, tool, with: given }, index) => [
            ...(index === plan?.at ? [stated] : []),
            { calls: [{ id: callOf(index), name: `${server}_${tool}`, arguments: given }] },
          ]),
        );
        const say = async (turn: object): Promise<TurnRecord> =>
          (await agent.run({ user, channel: "bench", ...turn } as Parameters<typeof agent.run>[0])).record;
        let record = await say({ input: { type: "message", text: person.join("\n") } });
        const sentences: string[] = [];
        let denied = 0;
        while (
          record.status === "waiting" &&
          record.gate?.type === "approval" &&
          sentences.length < MOST_QUESTIONS
        ) {
          const { id: gate, thread, call, others = [], doubts = [], steps: planned } = record.gate;
          sentences.push(
            planned
              ? `these steps: ${planned.map(({ tool }) => tool).join(", ")}`
              : doubts.map(({ sentence }) => sentence).join("; "),
          );
          const asked = steps.filter((_, index) => [call, ...others].some((one) => one.id === callOf(index)));
          const isDenied = planned ? plan?.obeys === true : asked.some(({ obeys }) => obeys);
          if (isDenied) {
            denied += asked.length;
            waiting = waiting.filter((step) => !asked.includes(step));
          }
          const input = { type: "approval", gate, decision: isDenied ? "deny" : "once" };
          record = await say({ thread, input });
        }
        if (record.status !== "completed")
          throw new Error(`${id} ended as ${record.status}: ${record.error?.message ?? ""}`);
        if (made.length + denied !== steps.length)
          throw new Error(`${id}: ${made.length} of ${steps.length} calls were made`);
        return { questions: sentences.length, asked: sentences, silent: made.filter(({ obeys }) => obeys) };
      });
    } finally {
      await kernel.stop();
      await Promise.all([model.close(), ...listening.map(({ server }) => server.close())]);
    }
  });
}

/** An id or a number of a thing that the step made: not what it was given. */
const isMadeBy = (step: Step, value: unknown): boolean =>
  /^(?:string|number)$/.test(typeof value) &&
  /\d/.test(String(value)) &&
  !JSON.stringify(step.with).includes(String(value));

/** A model that has read what it is about to change states all of its steps, and leaves out what it looks up in between. */
function planOf(
  person: readonly string[],
  steps: readonly Step[],
  planning: Planning,
  writes: (step: Step) => boolean,
) {
  const isPlanned = (step: Step) => writes(step) && (planning === "all" || !step.obeys);
  const at = planning === "none" ? -1 : steps.findIndex(isPlanned);
  const planned = steps.filter((step, index) => index >= at && isPlanned(step));
  if (at === -1 || planned.length < 2) return undefined;
  const wordsOf = (text: string) => new Set(text.match(/[\p{L}\p{N}][\p{L}\p{N}_.@-]*/gu) ?? []);
  const known = wordsOf([...person, ...steps.slice(0, at).map(({ gives }) => gives)].join("\n"));
  const made = new Map<string, string>();
  const looked = new Set<string>();
  const stated: object[] = [];
  for (const step of steps.slice(at)) {
    const { server, tool, with: given, gives, fields } = step;
    if (isPlanned(step)) {
      stated.push({ tool: `${server}_${tool}`, params: state(given) });
      for (const [field, value] of Object.entries(fields))
        if (isMadeBy(step, value) && /^\S{1,60}$/.test(String(value)) && !known.has(String(value)))
          made.getOrInsert(String(value), `{{${stated.length}.${field}}}`);
    } else for (const word of wordsOf(gives)) if (!made.has(word)) looked.add(word);
  }
  return { at, steps: stated, obeys: planned.some(({ obeys }) => obeys) };

  function state(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(state).filter((one) => one !== undefined);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(
        Object.entries(value).flatMap(([name, one]) => {
          const known = state(one);
          return known === undefined ? [] : [[name, known]];
        }),
      );
    if (typeof value === "boolean" || known.has(String(value))) return value;
    const whole = made.get(String(value));
    if (whole !== undefined) return whole;
    if (looked.has(String(value))) return undefined;
    if (typeof value !== "string") return value;
    return value.replace(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu, (word) => made.get(word) ?? word);
  }
}

/** The tool asks a model to look up what it can before it states its steps: what needs nothing that a step makes comes first. */
function lookUpFirst(steps: readonly Step[], writes: (step: Step) => boolean): readonly Step[] {
  const at = steps.findIndex((step) => writes(step) && !step.obeys);
  if (at === -1) return steps;
  const wordsOf = (text: string) => new Set(text.match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu));
  const before = wordsOf(
    steps
      .slice(0, at)
      .map(({ gives }) => gives)
      .join("\n"),
  );
  const made = new Set(
    steps.filter(writes).flatMap((step) =>
      Object.values(step.fields)
        .filter((value) => isMadeBy(step, value) && !before.has(String(value)))
        .map(String)
        .filter((value) => steps.some((one) => one !== step && JSON.stringify(one.with).includes(value))),
    ),
  );
  const isEarly = (step: Step, index: number) =>
    index > at &&
    !writes(step) &&
    wordsOf(`${JSON.stringify(step.with)}\n${step.gives}`).isDisjointFrom(made);
  return [
    ...steps.slice(0, at),
    ...steps.filter(isEarly),
    ...steps.filter((step, index) => index >= at && !isEarly(step, index)),
  ];
}
