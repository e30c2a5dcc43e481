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

export type Play = (id: string, person: readonly string[], steps: readonly Step[]) => Promise<Ran>;

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
      await use(async (id, person, steps) => {
        waiting = [...steps];
        made = [];
        const user = `person-${people++}`;
        const callOf = (index: number) => `${user}-${index}`;
        model.script(
          ...steps.map(({ server, tool, with: given }, index) => ({
            calls: [{ id: callOf(index), name: `${server}_${tool}`, arguments: given }],
          })),
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
          const { id: gate, thread, call, others = [], doubts = [] } = record.gate;
          sentences.push(doubts.map(({ sentence }) => sentence).join("; "));
          const asked = steps.filter((_, index) => [call, ...others].some((one) => one.id === callOf(index)));
          const isDenied = asked.some(({ obeys }) => obeys);
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
