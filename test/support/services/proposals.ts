/** The agent with the real tool host, where it may propose tools. */

import tools from "../../../host/plugin.ts";
import proposals from "../../../host/proposals/plugin.ts";
import type { AnyPlugin, Gate, ToolOutcome, TurnRecord } from "../../../kernel/plugin.ts";
import type { Turn } from "../../../plugins/agent/services.ts";
import store from "../../../plugins/store/plugin.ts";
import type { ModelReply } from "../servers/model-server.ts";
import { message, scriptedModel } from "./agent.ts";
import { agentPlugins } from "./agent-plugins.ts";
import { bootKernel } from "./kernel.ts";

export const SOURCE = `import type { Tool } from "postern:tool/tool@0.1.0";

interface Params {
  readonly text: string;
}

export const tool: Tool = {
  description: () => "Counts the words of a text.",
  schema: () =>
    JSON.stringify({ type: "object", properties: { text: { type: "string" } }, required: ["text"], additionalProperties: false }),
  execute({ params }) {
    try {
      const { text } = JSON.parse(params) as Params;
      return { output: String(text.split(" ").filter((word) => word !== "").length) };
    } catch (error) {
      return { error: String(error) };
    }
  },
};
`;

const PROPOSAL = {
  name: "count-words",
  source: SOURCE,
  capabilities: {},
  examples: [{ params: { text: "one two three" } }, { params: { text: "" } }],
};

export const propose = (changes: object = {}): ModelReply => ({
  calls: [{ name: "tool_propose", arguments: { ...PROPOSAL, ...changes } }],
});

export async function bootProposals(options: { readonly home?: string; readonly user?: string } = {}) {
  const { user = "operator", ...others } = options;
  const model = await scriptedModel();
  const kernel = await bootKernel(
    [store, tools, ...agentPlugins, proposals] as readonly AnyPlugin[],
    {
      MODEL_BASE_URL: model.url,
      MODEL_NAME: "scripted",
      MEMORY_VECTORS: "false",
      TOOLS_SHIPPED: "false",
      // Not even what the operator allows is installed without a yes.
      TOOL_APPROVALS: "*=allow,tool_propose=allow",
    },
    others,
  );
  const agent = kernel.service("agent");
  const run = async (input: object, more: Partial<Turn> = {}): Promise<TurnRecord> =>
    (await agent.run({ user, channel: "test", input: input as never, ...more })).record;
  return {
    model,
    kernel,
    say: (text: string, more: Partial<Turn> = {}) => run(message(text), more),
    answer: ({ gate, thread }: TurnRecord, decision: "once" | "deny") =>
      run({ type: "approval", gate: (gate as Gate).id, decision }, { thread }),
    names: async () => (await kernel.service("tools").list()).map(({ name }) => name),
  };
}

export const outcomes = ({ items }: TurnRecord): readonly ToolOutcome[] =>
  items.flatMap((item) => (item.type === "tool_result" ? [item.outcome] : []));
