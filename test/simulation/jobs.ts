/** Jobs: what is acknowledged is run, once, in the order of its conversation, whichever node dies. */
import { insist } from "./client.ts";
import type { Deed, Part, World } from "./world.ts";

interface Submitted {
  readonly key: string;
  readonly message: string;
  readonly conversation: string | undefined;
  id?: string;
}

interface JobRow {
  readonly id: string;
  readonly status: string;
  readonly message: string;
  readonly response: string | null;
  readonly error: string | null;
  readonly conversation: string | null;
  readonly idempotency_key: string;
  readonly node: string | null;
  readonly turn: string | null;
}

const VERBS = ["say", "post", "append", "write", "save", "delegate"];
/** Beats, a death noticed, and the look of those who take over, with time to spare. */
const TAKEN_OVER_MS = 30_000;

export function jobsPart(): Part {
  const submitted: Submitted[] = [];
  /** Each conversation's client waits for the acknowledgement before it says more. */
  const lines = new Map<string, Promise<void>>();

  function submit(world: World, { number }: Deed): void {
    const verb = VERBS[(world.plan.seed + number) % VERBS.length] as string;
    const conversation = number % 2 === 0 ? `c${number % 4}` : undefined;
    const job: Submitted = { key: `k${number}`, message: `${verb} j${number}`, conversation };
    submitted.push(job);
    const line = conversation ?? job.key;
    lines.set(
      line,
      (lines.get(line) ?? Promise.resolve()).then(() => acknowledge(world, job)),
    );
  }

  /** As a client does that tries again with the same key until it hears. */
  async function acknowledge(world: World, job: Submitted): Promise<void> {
    const { key, message, conversation } = job;
    const given = { user: "ann", channel: "simulation", message, idempotencyKey: key };
    const answer = await insist(world, (use) =>
      use("jobs").submit({ ...given, ...(conversation !== undefined && { conversation }) }),
    );
    if (!("value" in answer)) return;
    job.id = answer.value.id;
    world.note(undefined, `"${message}" is acknowledged`);
  }

  const rows = ({ database }: World) =>
    database.all<JobRow>("SELECT * FROM jobs WHERE channel = 'simulation' ORDER BY seq");

  return {
    deeds: { submit },
    async watch(world) {
      const open = await world.database.all<{ id: string; node: string }>(
        "SELECT id, node FROM jobs WHERE status = 'running'",
      );
      // Whoever is healthy takes over what the dead have left.
      const now = world.machine.now();
      const gone = world.nodes.filter(({ diedAt }) => diedAt < now - TAKEN_OVER_MS);
      const healthySince = world.healthySince();
      if (!(now - healthySince > TAKEN_OVER_MS)) return;
      for (const { id, node } of open)
        if (gone.some((one) => one.storeId === node))
          world.violate("a dead node's work is taken over in time", `the job ${id} is still ${node}'s`);
    },
    async isDone(world) {
      const all = await rows(world);
      const open = await world.database.get(
        "SELECT 1 AS one FROM turns WHERE status IN ('queued', 'running')",
      );
      if (open !== undefined) return false;
      return (
        submitted.every(({ id }) => id !== undefined) && all.every(({ status }) => status === "completed")
      );
    },
    async check(world) {
      const all = await rows(world);
      for (const job of submitted) {
        const made = all.filter(({ idempotency_key }) => idempotency_key === job.key);
        if (made.length > 1) world.violate("nothing counts twice", `${job.message} is ${made.length} jobs`);
        const [row] = made;
        const what = job.message.split(" ")[1] as string;
        if (job.id === undefined || row === undefined) {
          world.violate("nothing acknowledged is lost", `${job.message} (${job.id}) is not there`);
          continue;
        }
        if (row.status !== "completed")
          world.violate("nothing acknowledged is lost", `${job.message} is ${row.status}`);
        const posts = world.posted.filter((one) => one === what).length;
        if (posts > 1) world.violate("nothing counts twice", `${job.message} was posted ${posts} times`);
        if (row.error === null && ![what, "failed"].includes(row.response ?? ""))
          world.violate("nothing acknowledged is lost", `${job.message} ended with ${row.response}`);
        if (job.message.startsWith("post") && row.response === what && posts !== 1)
          world.violate("nothing acknowledged is lost", `${job.message} says that it was posted`);
      }
      await checkTurns(world, all);
    },
  };
}

/** Turns of a thread come in the order of what was said there, and each message is answered once. */
async function checkTurns(world: World, jobs: readonly JobRow[]): Promise<void> {
  const turns = await world.database.all<{ id: string; thread: string; status: string; input: string }>(
    "SELECT id, thread, status, input FROM turns ORDER BY seq",
  );
  for (const { id, status } of turns)
    if (status === "running" || status === "queued")
      world.violate("nothing acknowledged is lost", `the turn ${id} is ${status}`);
  const completed = turns.flatMap(({ status, input }) => {
    const { text } = JSON.parse(input) as { text?: string };
    return status === "completed" && text !== undefined ? [text] : [];
  });
  for (const { message } of jobs) {
    const times = completed.filter((text) => text === message).length;
    if (times > 1) world.violate("nothing counts twice", `"${message}" was answered in ${times} turns`);
  }
  for (const conversation of new Set(jobs.map((job) => job.conversation))) {
    if (conversation === null) continue;
    const asked = jobs.filter((job) => job.conversation === conversation).map(({ message }) => message);
    const told = completed.filter((text) => asked.includes(text));
    const expected = asked.filter((text) => told.includes(text));
    if (told.join() !== expected.join())
      world.violate(
        "order within a thread",
        `${conversation}: said ${asked.join(", ")}; ran ${told.join(", ")}`,
      );
  }
}
