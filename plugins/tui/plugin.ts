/** The terminal UI: in the same process as the other channels, on the terminal Postern was started from. */
import { findByPrefix } from "../../kernel/kit/terminal.ts";
import { definePlugin, Fault, Off, type Resume } from "../../kernel/plugin.ts";
import type { Preview } from "./preview.ts";
import type { Terminal } from "./services.ts";

/** There is one terminal. */
let preview: Preview | undefined;

export default definePlugin({
  name: "tui",
  kind: "channel",
  ownsTerminal: true,
  needs: ["kernel", "terminal"],
  configure: (env) =>
    env.flag("CLI_ENABLED", true, "Turns the terminal UI on") ? {} : new Off("CLI_ENABLED=false"),
  async preview() {
    const { showPreview } = await import("./preview.ts");
    preview = showPreview(process.stdin, process.stdout);
    return () => preview?.end();
  },
  async start({ use, onStop, announce }) {
    const [{ openTerminal }, thread] = await Promise.all([
      import("./terminal.ts"),
      // Looked up before the screen is taken, so that a refusal is printed.
      findResumed(use.terminal.threads, use.kernel.resume),
    ]);
    preview?.end();
    const terminal = openTerminal(use, thread, preview?.typed);
    onStop(() => terminal.close());
    announce("on this terminal");
  },
});

const PAGE_SIZE = 200;

/** Finds the thread that the command line asks for by id, by the beginning of one, or as the newest. */
async function findResumed(
  threads: Terminal["threads"],
  resume: Resume | undefined,
): Promise<string | undefined> {
  if (resume === undefined) return undefined;
  if (resume === "newest") {
    const [newest] = (await threads.list({ limit: 1 })).items;
    if (newest === undefined) throw refuse("There is no thread to continue yet. Start one: postern");
    return newest.id;
  }
  const found = await findByPrefix(resume.thread, {
    what: "thread",
    find: threads.find,
    list: (before) => threads.list({ limit: PAGE_SIZE, before }),
    title: ({ title }) => title,
  });
  if (found === undefined)
    throw refuse(
      `There is no thread ${resume.thread}. "postern --continue" opens the newest, and /threads lists them.`,
    );
  return found.id;
}

const refuse = (message: string) => new Fault("missing", "thread_not_found", message, { param: "--thread" });
