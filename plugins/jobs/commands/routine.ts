/** `postern routine …`: from the command line, through the running service where there is one. */

import { type Command, InvalidArgumentError } from "commander";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import {
  type Colour,
  fields,
  findByPrefix,
  relativeTime,
  say,
  sayJson,
  table,
  verb,
  wholeNumber,
} from "../../../kernel/kit/terminal.ts";
import { dollars } from "../../../kernel/kit/words.ts";
import { type CommandContext, Fault, type Services } from "../../../kernel/plugin.ts";
import { Routine, type RoutineBudget, RoutinePreview, RoutineRun } from "../routine.ts";
import type { RoutineChange, RoutineControl } from "../services.ts";

interface Given {
  readonly json?: boolean;
  readonly user?: string;
  readonly tz?: string;
  readonly budget?: RoutineBudget;
  readonly timeout?: number;
  readonly deliver?: string;
  readonly limit?: number;
}

const RUNS_SHOWN = 10;
const MAX_SHOWN = 200;

export function register(group: Command, context: CommandContext): void {
  const withRoutines = (
    work: (routines: RoutineControl, use: Pick<Partial<Services>, "accounts">) => Promise<void>,
  ) =>
    context.with(["routineControl"], ({ routineControl, ...use }) => work(routineControl, use), {
      wants: ["accounts"],
    });
  /** With the routine of this id, or the only one whose id begins so. */
  const withRoutine = (typed: string, work: (routines: RoutineControl, routine: Routine) => Promise<void>) =>
    withRoutines(async (routines) => {
      const found = await findByPrefix(typed, {
        what: "routine",
        find: (id) => routines.find(id),
        list: async () => ({ items: await routines.list() }),
        title: ({ text }) => firstLine(text),
      });
      await work(routines, found ?? missing(typed));
    });

  verb(
    group,
    "add <schedule> <text...>",
    "add a routine: a schedule in plain words or cron, and what to say to the agent",
    'routine add "weekdays at 8:00" "Summarise my open issues"',
    'routine add "every 2 hours" "Check the build" --budget 0.10 --timeout 10m',
    'routine add "first monday of the month at 9" "Write the report" --tz Europe/Berlin',
    'routine add "tomorrow at 15:00" "Remind me to call Bob"',
    'routine add "0 8 * * 1-5" "Good morning" --user ann --budget 2/day --deliver callback',
  )
    .option("--user <id>", "whose routine it is", OPERATOR)
    .option("--tz <zone>", "its time zone, such as Europe/Berlin; by default this machine's")
    .option("--budget <usd>", "most US dollars for models: 0.50 for each run, or 2/day", readBudget)
    .option(
      "--timeout <time>",
      "stop a run after this time, such as 90s, 10m or 2h; by default 1h",
      readSeconds,
    )
    .option("--deliver <where>", "send answers there too: callback, or a channel that offers it")
    .action((schedule: string, words: readonly string[], given: Given) =>
      withRoutines(async (routines, { accounts }) => {
        const { user = OPERATOR, timeout, tz, budget, deliver } = given;
        if (user !== OPERATOR && accounts && (await accounts.find(user)) === undefined) {
          const message = `There is no user ${user}: "postern user add ${user}".`;
          throw new Fault("missing", "user_not_found", message);
        }
        const routine = await routines.add({
          user,
          schedule,
          text: words.join(" "),
          tz,
          budget,
          timeoutSecs: timeout,
          deliver,
        });
        const next = localInWords(routine.nextAt, routine.tz);
        print(
          given,
          toWire(Routine, routine),
          `Added ${routine.id}: ${routine.words}, time zone ${routine.tz}${tz === undefined ? " (this machine's)" : ""}.\nNext run: ${next}. It runs while the service does.`,
        );
      }),
    );

  verb(group, "list", "list routines", "routine list", "routine list --user ann --json")
    .option("--user <id>", "only this user's")
    .action((given: Given) =>
      withRoutines(async (routines) => {
        const all = await routines.list(given.user);
        const rows = all.map((routine) => [
          routine.id,
          routine.user,
          statusInWords(routine),
          routine.words,
          routine.nextAt === undefined ? "none" : relativeTime(routine.nextAt),
          routine.lastRun ? runInWords(routine.lastRun) : "never run",
          firstLine(routine.text),
        ]);
        const heading = ["ID", "USER", "STATUS", "SCHEDULE", "NEXT RUN", "LAST RUN", "TEXT"];
        const colours = { STATUS: pausedColour, "LAST RUN": runColour };
        if (given.json) sayJson({ routines: all.map((routine) => toWire(Routine, routine)) });
        else if (all.length === 0)
          say('No routines. Add one: postern routine add "weekdays at 8:00" "Summarise my open issues"\n');
        else await context.show(table(heading, rows, { cut: ["TEXT"], colours }));
      }),
    );

  verb(
    group,
    "show <id>",
    "show a routine and its latest runs",
    "routine show r_1a2b3c4d",
    "routine show r_1a2b3c4d --limit 50",
  )
    .option("--limit <count>", `how many runs, up to ${MAX_SHOWN}`, wholeNumber(MAX_SHOWN), RUNS_SHOWN)
    .action((typed: string, given: Given) =>
      withRoutine(typed, async (routines, routine) => {
        const { id } = routine;
        const { items } = await routines.runs(id, { limit: given.limit ?? RUNS_SHOWN });
        const wire = { ...toWire(Routine, routine), runs: items.map((run) => toWire(RoutineRun, run)) };
        print(given, wire, inWords(routine, items));
      }),
    );

  verb(group, "preview <schedule>", "show when a schedule fires", 'routine preview "weekdays at 8:00"')
    .option("--tz <zone>", "a time zone; by default this machine's")
    .action((schedule: string, given: Given) =>
      withRoutines(async (routines) => {
        const preview = await routines.preview(schedule, given.tz);
        const lines = preview.firings.map((at) => `  ${localInWords(at, preview.tz)}`);
        print(
          given,
          toWire(RoutinePreview, preview),
          [`${preview.words} (${preview.tz})`, ...lines].join("\n"),
        );
      }),
    );

  const change = (typed: string, given: Given, to: RoutineChange, say: (routine: Routine) => string) =>
    withRoutine(typed, async (routines, { id }) => {
      const routine = (await routines.change(id, to)) ?? missing(id);
      print(given, toWire(Routine, routine), say(routine));
    });
  verb(
    group,
    "pause <id>",
    "pause a routine; what it misses is not made up for",
    "routine pause r_1a2b3c4d",
  ).action((id: string, given: Given) =>
    change(id, given, { paused: true }, (paused) => `Paused ${paused.id}.`),
  );
  verb(group, "resume <id>", "let a paused routine fire again", "routine resume r_1a2b3c4d").action(
    (id: string, given: Given) =>
      change(
        id,
        given,
        { paused: false },
        ({ id: resumed, nextAt, tz }) => `Resumed ${resumed}. Next run: ${localInWords(nextAt, tz)}.`,
      ),
  );

  verb(group, "run <id>", "run a routine now, beside its schedule", "routine run r_1a2b3c4d").action(
    (typed: string, given: Given) =>
      withRoutine(typed, async (routines, { id }) => {
        const run = (await routines.run(id)) ?? missing(id);
        print(
          given,
          toWire(RoutineRun, run),
          `Run ${run.id} is queued; the service runs it. See "postern routine show ${id}".`,
        );
      }),
  );

  verb(
    group,
    "remove <id>",
    "remove a routine and its history; its thread stays",
    "routine remove r_1a2b3c4d",
  ).action((typed: string, given: Given) =>
    withRoutine(typed, async (routines, { id }) => {
      if (!(await routines.remove(id))) missing(id);
      print(given, { id, removed: true }, `Removed ${id}.`);
    }),
  );
}

function inWords(routine: Routine, runs: readonly RoutineRun[]): string {
  const { tz, budget, deliver } = routine;
  const about = [
    ["id", routine.id],
    ["user", routine.user],
    ["status", statusInWords(routine)],
    ["schedule", `${routine.words} (${tz})`],
    ["next run", localInWords(routine.nextAt, tz)],
    ["timeout", secondsInWords(routine.timeoutSecs)],
    ...(budget ? [["budget", `${dollars(budget.usd)} per ${budget.per}`]] : []),
    ...(deliver === undefined ? [] : [["answers go to", `${deliver}, and its thread`]]),
    ...(runs[0]?.thread === undefined ? [] : [["thread", runs[0].thread]]),
  ];
  const rows = runs.map((run) => [
    localInWords(run.startedAt, tz),
    runInWords(run),
    `$${run.costUsd.toFixed(4)}`,
  ]);
  const notes = runs.flatMap(({ refused, undelivered }) => [
    ...refused.map(
      ({ tool, message }) =>
        `  ${message} Allow ${tool} on the page Tools, then: postern routine run ${routine.id}`,
    ),
    ...(undelivered === undefined ? [] : [`  ${undelivered}`]),
  ]);
  const told = [...new Set(notes)];
  return [
    fields(about).trimEnd(),
    `\n${routine.text}\n`,
    rows.length === 0 ? "It has not run yet." : table(["STARTED", "OUTCOME", "COST"], rows).trimEnd(),
    ...(told.length === 0 ? [] : [`\nNeeds you:\n${told.join("\n")}`]),
  ].join("\n");
}

/** "Tue 17 Nov 2026, 08:00 Europe/Berlin" */
function localInWords(at: string | undefined, tz: string): string {
  if (at === undefined) return "none";
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: tz,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(new Date(at));
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.find(({ type }) => type === name)?.value ?? "";
  return `${part("weekday")} ${part("day")} ${part("month")} ${part("year")}, ${part("hour")}:${part("minute")} ${tz}`;
}

const pausedColour = (status: string): Colour | undefined =>
  status.startsWith("paused") ? "yellow" : undefined;

const runColour = (run: string): Colour | undefined =>
  /^failed|need you/.test(run) ? "red" : run === "never run" ? "gray" : undefined;

function statusInWords({ status, pausedWhy }: Routine): string {
  return pausedWhy === undefined ? status : `${status}: ${pausedWhy}`;
}

function runInWords({ status, error, refused, cause, missed }: RoutineRun): string {
  const why = error === undefined ? "" : ` (${error.message})`;
  const calls = refused.length === 1 ? "1 call needs you" : `${refused.length} calls need you`;
  const more = missed === 0 ? "" : `, ${missed} later ${missed === 1 ? "one" : "ones"} left out`;
  const how = { catch_up: `made up for after a stop${more}`, manual: "run by hand", schedule: "" }[cause];
  return [`${status}${why}`, refused.length > 0 ? calls : "", how].filter(Boolean).join("; ");
}

function secondsInWords(secs: number): string {
  if (secs % 3600 === 0) return `${secs / 3600} h`;
  return secs % 60 === 0 ? `${secs / 60} min` : `${secs} s`;
}

function readBudget(text: string): RoutineBudget {
  const [usd = "", per = "run", ...rest] = text.replace(/^\$/, "").split("/");
  const amount = Number(usd);
  if (usd === "" || !(amount > 0) || rest.length > 0 || (per !== "run" && per !== "day"))
    throw new InvalidArgumentError("Use dollars for each run, such as 0.50, or for a day, such as 2/day.");
  return { usd: amount, per };
}

const UNITS: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600 };

function readSeconds(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smh]?)$/.exec(text) ?? [];
  if (count === "") throw new InvalidArgumentError("Use a time such as 90s, 10m or 2h.");
  return Number(count) * (UNITS[unit] ?? 1);
}

function firstLine(text: string): string {
  const [line = ""] = text.split("\n");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

function missing(id: string): never {
  const message = `There is no routine ${id}; "postern routine list" shows all.`;
  throw new Fault("missing", "routine_not_found", message);
}

function print({ json = false }: Given, wire: unknown, words: string): void {
  if (json) sayJson(wire);
  else say(`${words}\n`);
}
