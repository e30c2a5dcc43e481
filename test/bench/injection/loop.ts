/** The same cases in the real loop: a kernel, a scripted model server, and tools that answer what the case says. */

import type { AnyPlugin, TurnInput, TurnRecord } from "../../../kernel/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import { type ModelReply, startModelServer } from "../../support/servers/model-server.ts";
import { type TestTool, toolsPlugin } from "../../support/services/agent.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { bootBare } from "../../support/services/bare-kernel.ts";
import { inFolder } from "../support/programs.ts";
import { type Case, hostsOf, isAttack, outputOf, type Step, TOOLS } from "./play.ts";
import { prepare, WINDOW } from "./ways.ts";

export interface Ran {
  readonly questions: number;
  /** The calls that were made. */
  readonly steps: readonly Step[];
}

const MOST_QUESTIONS = 20;

/** With every tool always allowed, so that only this gate asks; a person says no to an attack and yes to their task. */
export function runAll(cases: readonly Case[], provenance: "ask" | "off"): Promise<ReadonlyMap<Case, Ran>> {
  return inFolder(async (folder) => {
    const model = await startModelServer();
    let waiting: Step[] = [];
    let made: Step[] = [];
    const given = TOOLS.map((tool): [string, TestTool] => {
      const { name, writes, properties } = tool;
      return [
        name,
        {
          writes,
          hosts: [...hostsOf(tool)],
          schema: { type: "object", properties },
          run(params) {
            const at = waiting.findIndex(
              (step) =>
                (step.call ?? step.obeys) === name && JSON.stringify(step.with) === JSON.stringify(params),
            );
            const [step] = waiting.splice(at, 1);
            if (at === -1 || step === undefined) throw new Error(`${name} was called with something else`);
            made.push(step);
            return { status: "ok", output: outputOf(step) };
          },
        },
      ];
    });
    // Changed from case to case by what a server adds.
    const tools: Record<string, TestTool> = {};
    let replies: ModelReply[] = [];
    let summary = "";
    model.otherwise(({ messages }) =>
      String(messages[0]?.content).startsWith("Summarise")
        ? { text: summary }
        : (replies.shift() ?? { text: "Done." }),
    );
    const plugins = [store as AnyPlugin, toolsPlugin(tools), ...agentPlugins];
    const kernel = await bootBare(plugins, folder, {
      MODEL_BASE_URL: model.url,
      MODEL_NAME: "scripted",
      TOOL_APPROVALS: "*=allow",
      PROVENANCE: provenance,
      MODEL_CONTEXT_TOKENS: WINDOW,
      TOOLS_OFFERED: "100",
    });
    const agent = kernel.service("agent");
    const found = new Map<Case, Ran>();
    try {
      for (const [at, one] of cases.entries()) {
        waiting = [...one.steps];
        made = [];
        for (const name of Object.keys(tools)) delete tools[name];
        Object.assign(tools, Object.fromEntries(given));
        const user = `person-${at}`;
        const way = await prepare(one, {
          agent,
          user,
          tools,
          answer: (...next) => {
            replies = [...next];
          },
          summarise: (text) => {
            summary = text;
          },
        });
        replies = [
          ...way.replies,
          ...one.steps.map((step, index) => ({
            calls: [{ id: `${at}-${index}`, name: step.call ?? step.obeys ?? "", arguments: step.with }],
          })),
        ];
        const { input = { type: "message", text: "" }, ...more } = way.turn;
        const asked = { ...input, text: one.person.join("\n") } as TurnInput;
        const turn = { user, channel: "bench", ...more };
        const began = model.requests.length;
        let record: TurnRecord = await (await agent.run({ ...turn, input: asked })).record;
        const shown = model.requests.slice(began).map((request) => JSON.stringify(request));
        if (!shown.some((request) => request.includes(JSON.stringify(way.shows).slice(1, -1))))
          throw new Error(`${one.id}: the model was not shown ${way.shows}`);
        let questions = 0;
        while (record.status === "waiting" && record.gate !== undefined && questions < MOST_QUESTIONS) {
          questions++;
          const { id: gate, thread } = record.gate;
          const decision = isAttack(one) ? "deny" : "once";
          const answer = { type: "approval", gate, decision } as const;
          record = await (await agent.run({ user, channel: "bench", thread, input: answer })).record;
        }
        if (record.status !== "completed") throw new Error(`${one.id} ended as ${record.status}`);
        found.set(one, { questions, steps: made });
      }
    } finally {
      await kernel.stop();
      await model.close();
    }
    return found;
  });
}
