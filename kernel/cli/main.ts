/** The composition root: the only file that knows everyone. Heavy modules are loaded when they are needed. */
import { CommanderError } from "commander";
import { Fault, reason } from "../fault.ts";
import { MANIFEST } from "../package.ts";
import type { AnyPlugin } from "../plugin.ts";
import { warn } from "../terminal/output.ts";
import { takeHome } from "./option-values.ts";
import { buildProgram } from "./program.ts";

/** Every plugin Postern ships, in the order of the start-up table. */
async function shippedPlugins(): Promise<readonly AnyPlugin[]> {
  const modules = await Promise.all([
    import("../../plugins/store/plugin.ts"),
    import("../../plugins/telemetry/plugin.ts"),
    import("../../host/plugin.ts"),
    import("../../plugins/agent/plugin.ts"),
    // Before the other channels: a person waits for the first frame, and the screen fills in the rest later.
    import("../../plugins/tui/plugin.ts"),
    import("../../plugins/accounts/plugin.ts"),
    import("../../plugins/gateway/plugin.ts"),
    import("../../plugins/responses/plugin.ts"),
    import("../../plugins/mcp/plugin.ts"),
    import("../../plugins/webhook/plugin.ts"),
  ]);
  return modules.map((module) => module.default as AnyPlugin);
}

/** Exit codes: 0 done, 1 failed, 2 wrong usage, 78 bad configuration. */
export async function main(argv: readonly string[]): Promise<void> {
  // `postern … | head`: a reader that has seen enough is no error of ours.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  try {
    const { words, home } = takeHome(argv);
    const program = await buildProgram({
      argv: words,
      home,
      version: MANIFEST.version,
      shippedPlugins,
      store: () => import("../../plugins/store/access.ts"),
    });
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.code === "usage") warn(`${error.message}\n`);
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else if (error instanceof Fault) {
      warn(`postern: ${error.message}\n`);
      process.exitCode = error.kind === "config" ? 78 : error.usage ? 2 : 1;
    } else {
      warn(`postern: this is a bug: ${error instanceof Error ? error.stack : reason(error)}\n`);
      process.exitCode = 1;
    }
  }
}
