/** Which thread the terminal opens first, where the command line asks for one. */
import { Fault, type Resume, type Services } from "../../kernel/plugin.ts";

const PAGE = 200;
/** Shorter beginnings fit too many. */
const SHORTEST = 4;

export async function findResumed(
  threads: Services["threads"],
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
  if (asked.length < SHORTEST) throw refuse(`--thread needs at least ${SHORTEST} characters of the id.`);
  const fitting: string[] = [];
  let before: string | undefined;
  do {
    const page = await threads.list(user, { limit: PAGE, ...(before !== undefined && { before }) });
    for (const { id } of page.items) if (id.startsWith(asked)) fitting.push(id);
    before = page.next;
  } while (before !== undefined);
  const [only, ...others] = fitting;
  if (only === undefined)
    throw refuse(
      `There is no thread ${asked}. "postern --continue" opens the newest, and /threads lists them.`,
    );
  if (others.length > 0) throw refuse(`${fitting.length} threads begin with ${asked}: write more of the id.`);
  return only;
}

const refuse = (message: string) => new Fault("missing", "thread_not_found", message, { param: "--thread" });
