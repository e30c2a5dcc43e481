/** Routines: each time that one is due makes one run, or is counted as missed; and what turns cost is counted once. */
import { insist } from "./client.ts";
import type { Part, World } from "./world.ts";

interface Run {
  readonly due_at: number;
  readonly missed: number;
  readonly status: string;
  readonly job: string | null;
}

const MINUTE_MS = 60_000;
const TEXT = "post routine";

export function routinesPart(): Part {
  let id: string | undefined;
  let isAdded = false;

  async function add(world: World): Promise<void> {
    isAdded = true;
    const answer = await insist(world, async (use) => {
      const routines = use("routines");
      // The answer of an earlier try may have been lost.
      const [known] = await routines.list("ann");
      return (
        known ?? (await routines.add({ user: "ann", schedule: "every 1 minute", text: TEXT, tz: "UTC" }))
      );
    });
    if ("value" in answer) id = answer.value.id;
    world.note(undefined, "the routine is acknowledged");
  }

  const runs = ({ database }: World) =>
    database.all<Run>("SELECT due_at, missed, status, job FROM routine_runs ORDER BY due_at");

  return {
    deeds: { routine: (world) => void add(world) },
    async isDone(world) {
      return (
        !isAdded || (id !== undefined && !(await runs(world)).some(({ status }) => status === "running"))
      );
    },
    async check(world) {
      if (!isAdded) return;
      const { database } = world;
      const [routine, ...others] = await database.all<{ next_at: number }>(
        "SELECT next_at FROM routines WHERE \"user\" = 'ann'",
      );
      if (routine === undefined)
        return world.violate("nothing acknowledged is lost", `the routine ${id} is gone`);
      if (others.length > 0) return;
      const all = await runs(world);
      const posts = world.posted.filter((what) => what === "routine").length;
      const begun = all.filter(({ job }) => job !== null).length;
      if (posts > begun)
        world.violate("nothing counts twice", `${begun} runs of the routine posted ${posts} times`);
      const jobs = await database.all<{ id: string }>("SELECT id FROM jobs WHERE message = ?", TEXT);
      if (jobs.length !== begun)
        world.violate("nothing counts twice", `${begun} runs of the routine are ${jobs.length} jobs`);
      // Clocks that jump make their own times.
      const [first] = all;
      if (first === undefined || world.hasMet("clock jump")) return;
      const due = (routine.next_at - first.due_at) / MINUTE_MS;
      const counted = all.reduce((sum, { missed }) => sum + 1 + missed, 0);
      if (due !== counted)
        world.violate("nothing counts twice", `the routine was due ${due} times and counted ${counted}`);
    },
  };
}

/** What turns cost, as it is added up for the caps, and for each turn. */
export function spendingPart(): Part {
  return {
    async check(world) {
      const cents = async (text: string) =>
        Math.round(100 * ((await world.database.get<{ usd: number | null }>(text))?.usd ?? 0));
      const [spent, counted] = await Promise.all([
        cents("SELECT sum(usd) AS usd FROM spending"),
        cents("SELECT sum(usd) AS usd FROM turn_figures"),
      ]);
      // A turn that was cut short has spent what its model took, and figures of its own would come too late.
      if (spent > world.billed || counted > spent)
        world.violate(
          "nothing counts twice",
          `spent ${spent} cents, in turns ${counted}, billed ${world.billed}`,
        );
      const twice = await world.database.all<{ turn: string }>(
        "SELECT turn FROM turn_figures GROUP BY turn HAVING count(*) > 1",
      );
      for (const { turn } of twice) world.violate("nothing counts twice", `the turn ${turn} has ended twice`);
    },
  };
}
