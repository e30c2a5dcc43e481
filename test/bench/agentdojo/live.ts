/**
 * A suite in a real service: its tools are those of an MCP server on loopback, reached by the client that people's servers are reached
 * by; a scripted model makes the calls. Every tool is always allowed, so that only this gate asks. The person says no to an attack and yes
 * to their task.
 */
import host from "../../../host/plugin.ts";
import { boot } from "../../../kernel/kernel.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { AnyPlugin, TurnRecord } from "../../../kernel/plugin.ts";
import { Settings } from "../../../kernel/settings/env.ts";
import store from "../../../plugins/store/plugin.ts";
import { listenMcp } from "../../support/servers/mcp-listening.ts";
import { startModelServer } from "../../support/servers/model-server.ts";
import { text } from "../../support/servers/scripted-mcp.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { inFolder } from "../support/programs.ts";
import type { Case, Exported, Step } from "./cases.ts";

const MOST_QUESTIONS = 30;
/** Not the suite's name: one of them is called as tools of ours are. */
const SERVER = "dojo";
const nameOf = ({ call, obeys = "" }: Step) => call ?? obeys;

export interface Ran {
  readonly questions: number;
  readonly made: readonly Step[];
}

type Play = (one: Case, form: number) => Promise<Ran>;

export function inService(tools: Exported["tools"], use: (play: Play) => Promise<void>): Promise<void> {
  return inFolder(async (home) => {
    let waiting: Step[] = [];
    let made: Step[] = [];
    let form = 0;
    const answer = (name: string, given: object) => {
      const at = waiting.findIndex(
        (step) => nameOf(step) === name && JSON.stringify(step.with) === JSON.stringify(given),
      );
      const [step] = waiting.splice(at, 1);
      if (at === -1 || step === undefined) throw new Error(`${name} was called with something else`);
      made.push(step);
      return text(step.gives[form] ?? "");
    };
    const server = await listenMcp(
      tools.map(({ name, writes, schema }) => ({
        name,
        description: name,
        inputSchema: { ...schema, type: "object" as const },
        annotations: { readOnlyHint: !writes },
        run: (given) => answer(name, given),
      })),
    );
    const model = await startModelServer();
    const mask = createMask();
    const variables = {
      MODEL_BASE_URL: model.url,
      MODEL_NAME: "scripted",
      TOOL_APPROVALS: "*=allow",
      TOOLS_SHIPPED: "false",
      TOOLS_PRIVATE_HOSTS: server.host,
      TOOLS_OFFERED: "200",
      MODEL_CONTEXT_TOKENS: "1000000",
      MEMORY_VECTORS: "false",
    };
    const kernel = await boot({
      plugins: [store as AnyPlugin, host as AnyPlugin, ...agentPlugins],
      settings: new Settings(variables, {}, mask.add),
      home,
      log: createLog("silent", mask, { pretty: false, write: () => {} }),
      mask,
      version: "0.0.0-bench",
    });
    const agent = kernel.service("agent");
    try {
      await kernel
        .service("mcpServers")
        .add({ name: SERVER, url: server.url }, { user: "operator", agree: true });
      let people = 0;
      await use(async (one, written) => {
        waiting = [...one.steps];
        made = [];
        form = written;
        const user = `person-${people++}`;
        model.script(
          ...one.steps.map((step, index) => ({
            calls: [{ id: `${user}-${index}`, name: `${SERVER}_${nameOf(step)}`, arguments: step.with }],
          })),
        );
        const say = async (turn: object): Promise<TurnRecord> =>
          (await agent.run({ user, channel: "bench", ...turn } as Parameters<typeof agent.run>[0])).record;
        let record = await say({ input: { type: "message", text: one.person.join("\n") } });
        let questions = 0;
        while (record.status === "waiting" && record.gate !== undefined && questions < MOST_QUESTIONS) {
          questions++;
          const { id: gate, thread } = record.gate;
          const decision = one.kind === "attack" ? "deny" : "once";
          record = await say({ thread, input: { type: "approval", gate, decision } });
        }
        if (record.status !== "completed")
          throw new Error(`${one.id} ended as ${record.status}: ${record.error?.message ?? ""}`);
        if (made.length + (one.kind === "attack" ? questions : 0) !== one.steps.length)
          throw new Error(`${one.id}: ${made.length} of ${one.steps.length} calls were made`);
        return { questions, made };
      });
    } finally {
      await kernel.stop();
      await Promise.all([model.close(), server.close()]);
    }
  });
}
