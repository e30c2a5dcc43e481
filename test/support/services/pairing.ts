/** Says whose the senders of a chat are, before the service runs: many at once, without a process for each. */
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import { agentPlugins } from "./agent-plugins.ts";
import { bootBare } from "./bare-kernel.ts";

export async function pairSenders(home: string, identities: readonly string[]): Promise<void> {
  const plugins = [store, telemetry, ...agentPlugins] as readonly AnyPlugin[];
  const running = await bootBare(
    plugins,
    home,
    { MODEL_PROVIDER: "builtin" },
    { only: ["identities", "jobs"] },
  );
  try {
    for (const identity of identities) await running.service("identities").pair(identity, "operator");
  } finally {
    await running.stop();
  }
}
