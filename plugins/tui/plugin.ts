/** The terminal UI: in the same process as the other channels, on the terminal Postern was started from. */
import { definePlugin, Off } from "../../kernel/plugin.ts";

export default definePlugin({
  name: "tui",
  kind: "channel",
  ownsTerminal: true,
  needs: ["kernel", "agent", "threads"],
  wants: ["tools", "jobs", "memory"],
  configure: (env) =>
    env.flag("CLI_ENABLED", true, "Turns the terminal UI on") ? {} : new Off("CLI_ENABLED=false"),
  async start({ use, onStop, announce }) {
    const { openTerminal } = await import("./screen/terminal.ts");
    const terminal = openTerminal(use);
    onStop(() => terminal.close());
    announce("on this terminal");
  },
});
