/** The service with the terminal UI and three small tools, as a process that wants a terminal. */
import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { serve } from "../../../kernel/cli/service/serve.ts";
import { openSession } from "../../../kernel/cli/service/session.ts";
import { type AnyPlugin, definePlugin, reason, type ToolInfo } from "../../../kernel/plugin.ts";
import agentRoutes from "../../../plugins/agent/routes/plugin.ts";
import gateway from "../../../plugins/gateway/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import terminal from "../../../plugins/tui/local/plugin.ts";
import tui from "../../../plugins/tui/plugin.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";

const tool = (name: string, writes: boolean): ToolInfo => ({
  name,
  version: "1.0.0",
  description: `The ${name} tool.`,
  schema: { type: "object" },
  grants: [`may ${writes ? "write to" : "read"} https://${name}.example/`],
  writes,
});

const FORM = {
  key: "0",
  message: "How shall we send it?\u001b[2J",
  schema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Recipient", description: "As on the parcel" },
      count: { type: "integer", title: "How many", minimum: 1, maximum: 9, default: 2 },
      gift: { type: "boolean", title: "It is a gift" },
      speed: { type: "string", title: "Speed", enum: ["slow", "fast"] },
    },
    required: ["name", "gift", "speed"],
  },
};
const PAGE = { key: "0", message: "Please pay.", url: "https://bank.example/pay?order=7" };
const ask = (question: typeof FORM | typeof PAGE, resume: string) =>
  ({ status: "question", server: "shop", questions: [question], resume }) as const;

/** A stranger's, who also writes to the terminal. */
const BILL =
  "Please pay EUR 100 to DE89370400440532013000.\u001b[2J\u202e Or post it to mallory@evil.example today.";

const tools = definePlugin({
  name: "test-tools",
  provides: ["tools"],
  configure: () => ({}),
  start: () => ({
    tools: {
      list: async () => [
        tool("clock", false),
        tool("post", true),
        tool("mail", false),
        { ...tool("read_file", false), hosts: [] },
        { ...tool("shop_order", false), server: { name: "shop", tool: "order", warnings: [] } },
        { ...tool("old", false), switchedOff: { at: new Date().toISOString(), why: "It kept crashing." } },
      ],
      async call({ name }) {
        await sleep(50);
        if (name === "shop_order") return ask(FORM, "form");
        if (name === "mail") {
          const message = "run postern tool auth mail";
          return { status: "unauthenticated", tool: name, secret: "mail_token", message };
        }
        if (name === "read_file") return { status: "ok", output: BILL };
        const output = name === "clock" ? '{"time":"half past nine"}' : "posted \u001b[2J\u001b[31mred";
        return { status: "ok", output };
      },
      async resume(_, resume, [reply]) {
        if (resume === "form" && reply?.action === "accept") return ask(PAGE, JSON.stringify(reply.content));
        return { status: "ok", output: `${reply?.action} ${resume}` };
      },
    },
  }),
});

// Most of these processes are killed, and would never write down what they compiled.
flushCompileCache();

const plugins = [store, tools, ...agentPlugins, gateway, agentRoutes, terminal, tui] as readonly AnyPlugin[];
const { values } = parseArgs({ options: { thread: { type: "string" }, continue: { type: "boolean" } } });
const resume = values.continue
  ? "newest"
  : values.thread === undefined
    ? undefined
    : { thread: values.thread };
try {
  process.exitCode = await serve(openSession(), plugins, {
    version: "0.0.0-test",
    screenTaken: true,
    resume,
  });
} catch (error) {
  // As the command line does, which knows more plugins.
  process.stderr.write(`${reason(error)}\n`);
  process.exitCode = 1;
}
