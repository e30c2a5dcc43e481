/** The service with the terminal UI and three small tools, as a process that wants a terminal. */
import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../../../kernel/cli/serve.ts";
import { openSession } from "../../../kernel/cli/session.ts";
import { type AnyPlugin, definePlugin, type ToolInfo } from "../../../kernel/plugin.ts";
import store from "../../../kernel/store/store.ts";
import agent from "../../../plugins/agent/plugin.ts";
import gateway from "../../../plugins/gateway/plugin.ts";
import tui from "../../../plugins/tui/plugin.ts";

const tool = (name: string, writes: boolean): ToolInfo => ({
  name,
  version: "1.0.0",
  description: `The ${name} tool.`,
  schema: { type: "object" },
  grants: [`may ${writes ? "write to" : "read"} https://${name}.example/`],
  writes,
});

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
        { ...tool("old", false), switchedOff: { at: new Date().toISOString(), why: "It kept crashing." } },
      ],
      async call({ name }) {
        await sleep(50);
        if (name === "mail") {
          const message = "run postern tool auth mail";
          return { status: "unauthenticated", tool: name, secret: "mail_token", message };
        }
        const output = name === "clock" ? '{"time":"half past nine"}' : "posted \u001b[2J\u001b[31mred";
        return { status: "ok", output };
      },
    },
  }),
});

// Most of these processes are killed, and would never write down what they compiled.
flushCompileCache();

const plugins = [store, tools, agent, gateway, tui] as readonly AnyPlugin[];
process.exitCode = await serve(openSession(), plugins, { version: "0.0.0-test", screenTaken: true });
