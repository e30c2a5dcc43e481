/** The terminal UI: in the same process as the other channels, on the terminal Postern was started from. */

import { OPERATOR } from "../../kernel/kit.ts";
import { definePlugin, Off } from "../../kernel/plugin.ts";
import { findResumed } from "./resuming.ts";

export default definePlugin({
  name: "tui",
  kind: "channel",
  ownsTerminal: true,
  needs: ["kernel", "agent", "threads", "attachments"],
  wants: ["tools", "jobs", "memory"],
  configure: (env) =>
    env.flag("CLI_ENABLED", true, "Turns the terminal UI on") ? {} : new Off("CLI_ENABLED=false"),
  async start({ use, onStop, announce }) {
    const [{ openTerminal }, thread] = await Promise.all([
      import("./screen/terminal.ts"),
      // Before the screen is taken: a refusal is printed.
      findResumed(use.threads, OPERATOR, use.kernel.resume),
    ]);
    const terminal = openTerminal(use, thread);
    onStop(() => terminal.close());
    announce("on this terminal");
  },
});
