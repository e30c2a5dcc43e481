/** Says whose the senders of a chat are, before the service runs: many at once, without a process for each. */
import { boot } from "../../../kernel/kernel.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { Settings } from "../../../kernel/settings/env.ts";
import store from "../../../plugins/store/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import { agentPlugins } from "./agent-plugins.ts";

export async function pairSenders(home: string, identities: readonly string[]): Promise<void> {
  const mask = createMask();
  const running = await boot({
    plugins: [store, telemetry, ...agentPlugins] as readonly AnyPlugin[],
    settings: new Settings({ MODEL_PROVIDER: "builtin" }),
    home,
    log: createLog("silent", mask, { pretty: false, write: () => {} }),
    mask,
    version: "0.0.0-test",
    only: ["identities", "jobs"],
  });
  try {
    for (const identity of identities) await running.service("identities").pair(identity, "operator");
  } finally {
    await running.stop();
  }
}
