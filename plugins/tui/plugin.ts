/** The terminal UI: in the same process as the other channels, on the terminal Postern was started from. */
import { OPERATOR } from "../../kernel/kit.ts";
import { definePlugin, Fault, Off, type Resume, type Threads } from "../../kernel/plugin.ts";

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
      import("./terminal.ts"),
      // Looked up before the screen is taken, so that a refusal is printed.
      findResumed(use.threads, OPERATOR, use.kernel.resume),
    ]);
    const terminal = openTerminal(use, thread);
    onStop(() => terminal.close());
    announce("on this terminal");
  },
});

const PAGE_SIZE = 200;
/** Shorter prefixes match too many ids. */
const MIN_PREFIX_LENGTH = 4;

/** Finds the thread that the command line asks for by id, by the beginning of one, or as the newest. */
async function findResumed(
  threads: Threads,
  user: string,
  resume: Resume | undefined,
): Promise<string | undefined> {
  if (resume === undefined) return undefined;
  if (resume === "newest") {
    const [newest] = (await threads.list(user, { limit: 1 })).items;
    if (newest === undefined) throw refuse("There is no thread to continue yet. Start one: postern");
    return newest.id;
  }
  const asked = resume.thread.trim().toLowerCase();
  const exact = await threads.find(user, asked);
  if (exact) return exact.id;
  if (asked.length < MIN_PREFIX_LENGTH)
    throw refuse(`--thread needs at least ${MIN_PREFIX_LENGTH} characters of the id.`);
  const matching: string[] = [];
  let before: string | undefined;
  do {
    const page = await threads.list(user, { limit: PAGE_SIZE, before });
    for (const { id } of page.items) if (id.startsWith(asked)) matching.push(id);
    before = page.next;
  } while (before !== undefined);
  const [only, ...others] = matching;
  if (only === undefined)
    throw refuse(
      `There is no thread ${asked}. "postern --continue" opens the newest, and /threads lists them.`,
    );
  if (others.length > 0) throw refuse(`${matching.length} threads begin with ${asked}: give more of the id.`);
  return only;
}

const refuse = (message: string) => new Fault("missing", "thread_not_found", message, { param: "--thread" });
