/** What models change by the agent's own tools: once at most, and as their jobs say. */
import { insist } from "./client.ts";
import { LINES } from "./plugins.ts";
import type { Part, World } from "./world.ts";

const USER = "ann";

interface JobRow {
  readonly channel: string;
  readonly message: string;
  readonly status: string;
  readonly response: string | null;
  readonly error: string | null;
  /** Whether its turn had called a tool that changes something. */
  readonly wrote: number | null;
}

export function ownToolsPart(): Part {
  const rows = ({ database }: World) =>
    database.all<JobRow>(
      `SELECT jobs.channel, message, jobs.status, response, jobs.error, wrote
       FROM jobs LEFT JOIN turns ON turns.id = jobs.turn WHERE jobs."user" = ?`,
      USER,
    );

  /** What was added, a line each. */
  async function linesIn(world: World): Promise<Record<"files" | "memory", readonly string[]>> {
    const file = await insist(world, (use) => use("workspace").read(USER, LINES));
    const document = await insist(world, (use) => use("memory").read(USER, LINES));
    const text = "value" in file && file.value ? new TextDecoder().decode(file.value.data) : "";
    const saved = "value" in document && document.value ? document.value.text : "";
    return { files: text.split("\n"), memory: saved.split("\n") };
  }

  return {
    isDone: async (world) => (await rows(world)).every(({ status }) => status === "completed"),
    async check(world) {
      const { files, memory } = await linesIn(world);
      const written = await world.database.all<{ path: string }>(
        'SELECT path FROM workspace_versions WHERE "user" = ?',
        USER,
      );
      const paths = written.map(({ path }) => path.slice(1));
      const places: Readonly<Record<string, readonly string[]>> = {
        ...{ append: files, delegate: files, save: memory, write: paths },
      };
      for (const { channel, message, response, error, wrote } of await rows(world)) {
        const [, verb = "", what = ""] = /^([a-z]+) (\S+)$/.exec(message) ?? [];
        const times = places[verb]?.filter((one) => one === what).length;
        if (times !== undefined && times > 1)
          world.violate("nothing counts twice", `"${message}" was done ${times} times`);
        if (times === 0 && response === what && error === null)
          world.violate("nothing acknowledged is lost", `"${message}" says that it was done`);
        const { code } = JSON.parse(error ?? "{}") as { code?: string };
        const isAllowed =
          code === "model_unreachable" ||
          (code === "interrupted" && wrote === 1) ||
          // What a turn took when it was run first may come before or after its own message when it is run again.
          (code === "not_repeated" && channel === "chat") ||
          // A task ends with the turn that delegated it.
          (code === "cancelled" && channel === "task") ||
          // A run ends after an hour.
          (code === "cancelled" && channel === "routine" && world.hasMet("clock jump") > 0);
        if (error !== null && !isAllowed)
          world.violate("nothing acknowledged is lost", `"${message}" of ${channel} ended with ${error}`);
      }
      const begun = await world.database.all<{ title: string; count: number }>(
        "SELECT title, count(*) AS count FROM tasks GROUP BY title HAVING count(*) > 1",
      );
      for (const { title, count } of begun)
        world.violate("nothing counts twice", `the task "${title}" was begun ${count} times`);
    },
  };
}
