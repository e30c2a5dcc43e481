/** The service under measurement in a process of its own; tells its address and, when asked, its memory. */

import { boot } from "../../../kernel/kernel.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { Settings } from "../../../kernel/settings/env.ts";
import gateway from "../../../plugins/gateway/plugin.ts";
import responses from "../../../plugins/responses/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";

const [home, modelUrl, token] = process.argv.slice(2) as [string, string, string];
const mask = createMask();
const running = await boot({
  plugins: [store, ...agentPlugins, gateway, responses] as AnyPlugin[],
  settings: new Settings(
    {
      GATEWAY_PORT: "0",
      GATEWAY_AUTH_TOKEN: token,
      CHAT_RATE_LIMIT: "1000000",
      GATEWAY_CONNECTIONS_PER_ADDRESS: "10000",
      GATEWAY_REQUESTS_PER_USER: "10000",
      MODEL_BASE_URL: modelUrl,
      MODEL_NAME: "scripted",
      // Nothing that is measured is to fail because it does not fit.
      MODEL_CONTEXT_TOKENS: "1000000",
    },
    {},
    mask.add,
  ),
  home,
  mask,
  log: createLog("info", mask, { pretty: false, write: (line) => void process.stderr.write(line) }),
  version: "0.0.0-bench",
});

process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ rss: process.memoryUsage().rss });
});
process.on("disconnect", () => void running.stop().then(() => process.exit()));
process.send?.({ url: `${running.service("web").url}/api/v1/responses` });
