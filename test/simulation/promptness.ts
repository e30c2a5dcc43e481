/** Promptness: in a quiet world nodes hear of work that is ready, and take it up soon. */
import { inside } from "./machine.ts";
import type { Part, World } from "./world.ts";

/** The time of a slow answer from outside, twice over. */
const PROMPT_MS = 20_000;

/** What nobody has to wait for any more. Each answers with `what`. */
const READY: readonly string[] = [
  // Only where a node has a hand free.
  `SELECT 'the job "' || message || '"' AS what FROM jobs AS free
   WHERE status = 'queued' AND held = 0
     AND NOT EXISTS (SELECT 1 FROM jobs AS other WHERE other.status = 'running'
       AND other."user" = free."user" AND other.conversation = free.conversation)
     AND (SELECT count(DISTINCT node) FROM jobs WHERE status = 'running' AND channel <> 'task') < ?`,
  `SELECT 'the turn ' || id AS what FROM turns AS one
   WHERE status = 'queued' AND NOT EXISTS (SELECT 1 FROM turns AS earlier
     WHERE earlier.thread = one.thread AND earlier.seq < one.seq AND earlier.status IN ('queued', 'running'))`,
  `SELECT 'the end of the task "' || title || '"' AS what FROM tasks JOIN jobs ON jobs.id = tasks.id
   WHERE jobs.status = 'completed' AND tasks.completed_at IS NULL`,
  `SELECT 'the turn that waited for the task "' || title || '"' AS what FROM tasks JOIN turns ON turns.id = parent_turn
   WHERE tasks.completed_at IS NOT NULL AND turns.status = 'running'`,
];
const READY_CHATS: readonly string[] = [
  `SELECT 'the message ' || min(id) AS what FROM messaging_inbox WHERE message IS NOT NULL GROUP BY line`,
  `SELECT 'the answer to "' || jobs.message || '"' AS what FROM messaging_outbox JOIN jobs ON jobs.id = job
   WHERE messaging_outbox.status = 'owed' AND jobs.status = 'completed'`,
  `SELECT 'the outgoing message ' || id AS what FROM messaging_outbox AS one
   WHERE status = 'waiting' AND due_at <= ? AND NOT EXISTS (SELECT 1 FROM messaging_outbox AS earlier
     WHERE earlier.line = one.line AND earlier.seq < one.seq)`,
];
const READY_CALLBACKS: readonly string[] = [
  `SELECT 'the callback of "' || message || '"' AS what FROM webhook_callbacks JOIN jobs ON jobs.id = job
   WHERE jobs.status = 'completed' AND holder IS NULL AND (due_at IS NULL OR due_at <= ?)`,
];

export function promptnessPart(): Part {
  /** Since when each has been ready. */
  let since = new Map<string, number>();
  /** What clients wait for who do not ask again. */
  const awaited = new Map<string, "running" | "heard">();

  function hearOf(world: World, job: string): void {
    if (awaited.has(job)) return;
    awaited.set(job, "running");
    const nodes = world.serving();
    const node = nodes[Math.floor(world.machine.chance() * nodes.length)];
    if (node === undefined) return;
    inside(node, () => world.service(node, "jobs").wait(job, 2 ** 31 - 1)).then(
      () => awaited.set(job, "heard"),
      () => {},
    );
  }

  async function readyIn(world: World): Promise<readonly string[]> {
    const { database, machine } = world;
    const uses = (kind: string) => world.plan.deeds.some((deed) => deed.kind === kind);
    const texts = [...READY, ...(uses("chat") ? READY_CHATS : []), ...(uses("call") ? READY_CALLBACKS : [])];
    const ready: string[] = [];
    for (const text of texts) {
      const given = text.includes("?")
        ? [text.includes("due_at") ? machine.wall() : world.serving().length]
        : [];
      ready.push(...(await database.all<{ what: string }>(text, ...given)).map(({ what }) => what));
    }
    const jobs = await database.all<{ id: string; message: string; status: string }>(
      "SELECT id, message, status FROM jobs",
    );
    for (const { id, message, status } of jobs) {
      if (status !== "completed") hearOf(world, id);
      else if (awaited.get(id) === "running") ready.push(`whoever waits for the job "${message}"`);
    }
    return ready;
  }

  return {
    async watch(world) {
      if (!world.plan.isQuiet) return;
      const now = world.machine.now();
      const ready = await readyIn(world);
      since = new Map(ready.map((what) => [what, since.get(what) ?? now]));
      for (const [what, at] of since)
        if (now - at > PROMPT_MS)
          world.violate(
            "ready work is taken up promptly",
            `${what} was ready for ${Math.round((now - at) / 1000)} s`,
          );
    },
    async check() {},
  };
}
