/** `postern job list|tree|show|cancel|retry`: the durable queue from the command line, through the running service where there is one. */

import { type Command, InvalidArgumentError } from "commander";
import { Job as JOB, JobStatus as STATUS, Task as TASK } from "../../../kernel/kit/jobs.ts";
import { named, nullable, Type, toWire } from "../../../kernel/kit/schema.ts";
import {
  type Colour,
  createShortener,
  fields,
  findByPrefix,
  relativeTime,
  say,
  sayJson,
  table,
  typedCommand,
  wholeNumber,
} from "../../../kernel/kit/terminal.ts";
import { dollars } from "../../../kernel/kit/words.ts";
import { type CommandContext, Fault, type JobStatus, type Task } from "../../../kernel/plugin.ts";
import type { JobControl, ShownJob } from "../services.ts";

type ListedStatus = JobStatus | "failed";
const STATUSES: readonly ListedStatus[] = [...STATUS.enum, "failed"];
const MAX_LISTED = 200;

const { id, user, status, waitingFor, response, error, createdAt, completedAt } = JOB.properties;

export const JobDetails = Type.Object({
  ...{ id, status, waitingFor, response, error, createdAt, completedAt },
  user: named("user_id", user),
  conversation: nullable(named("conversation_id", Type.String())),
  thread: nullable(named("thread_id", Type.String())),
});

interface ListOptions {
  readonly status?: ListedStatus;
  readonly user?: string;
  readonly limit: number;
  readonly before?: string;
  readonly json?: boolean;
}

export function register(group: Command, context: CommandContext): void {
  group
    .command("list")
    .description("list jobs, newest first")
    .option("--status <status>", STATUSES.join(", "), parseStatus)
    .option("--user <user_id>", "only this user's jobs")
    .option("--limit <count>", `how many, up to ${MAX_LISTED}`, wholeNumber(MAX_LISTED), 20)
    .option("--before <cursor>", "continue where an earlier list ended")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern job list --status queued")
    .action(({ json = false, limit, ...query }: ListOptions) =>
      context.with(["jobControl"], async ({ jobControl: jobs }) => {
        const { items, next } = await jobs.list({ limit, ...query });
        if (json) sayJson({ jobs: items.map((job) => toWire(JobDetails, job)), next: next ?? null });
        else if (items.length === 0) print("No jobs.");
        else {
          const more = next ? `More: ${typedCommand()} job list --before ${next}\n` : "";
          const heads = ["JOB", "STATUS", "USER", "CREATED", "COMPLETED"];
          const row = rowOf(createShortener(items.map(({ id }) => id)));
          await context.show(`${table(heads, items.map(row), { colours: { STATUS: colourOf } })}${more}`);
        }
      }),
    );

  group
    .command("tree")
    .description("show what the agent has delegated: each task with its tasks below it")
    .option("--user <user_id>", "only this user's tasks")
    .option("--thread <thread_id>", "only those that this thread delegated")
    .option("--limit <count>", `how many of the newest, up to ${MAX_LISTED}`, wholeNumber(MAX_LISTED), 50)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern job tree --user ann")
    .action(({ json = false, ...query }: TreeOptions) =>
      context.with(["taskControl"], async ({ taskControl }) => {
        const listed = await taskControl.list(query);
        if (json) sayJson({ tasks: listed.map((task) => toWire(TASK, task)) });
        else if (listed.length === 0) print("Nothing was delegated.");
        else {
          const heads = ["TASK", "STATUS", "COST", "CALLS", "JOB"];
          const row = branchOf(createShortener(listed.map(({ id }) => id)));
          await context.show(table(heads, listed.map(row), { cut: ["TASK"], colours: { STATUS: colourOf } }));
        }
      }),
    );

  const verb = (
    name: string,
    about: string,
    act: (jobs: JobControl, id: string) => Promise<ShownJob | undefined>,
  ) =>
    group
      .command(name)
      .description(about)
      .argument("<job_id>")
      .option("--json", "print JSON")
      .addHelpText("after", `\nExample:\n  $ postern job ${name} 0c9c2a52`)
      .action((given: string, { json = false }: { json?: boolean }) =>
        context.with(["jobControl"], async ({ jobControl: jobs }) => {
          const { id } = await findJob(jobs, given);
          show((await act(jobs, id)) ?? missing(given), json);
        }),
      );
  verb("show", "show one job", (jobs, id) => jobs.find(id));
  verb("cancel", "cancel a queued or running job", (jobs, id) => jobs.cancel(id));
  verb("retry", "put a new job with the same message into the queue", (jobs, id) => jobs.retry(id));
}

interface TreeOptions {
  readonly user?: string;
  readonly thread?: string;
  readonly limit: number;
  readonly json?: boolean;
}

const branchOf =
  (shorten: (id: string) => string) =>
  ({ id, depth, title, status, error, costUsd, calls, isBackground }: Task): string[] => [
    `${"  ".repeat(depth - 1)}${isBackground ? "(background) " : ""}${title}`,
    error ? `${status} (${error.code})` : status,
    dollars(costUsd),
    calls.length === 0 ? "" : `${calls.length}, last ${calls.at(-1)}`,
    shorten(id),
  ];

function parseStatus(text: string): ListedStatus {
  const status = STATUSES.find((known) => known === text);
  if (status === undefined) throw new InvalidArgumentError(`Use one of ${STATUSES.join(", ")}.`);
  return status;
}

/** The job with this id, or the only one whose id begins so. */
async function findJob(jobs: JobControl, given: string): Promise<ShownJob> {
  const found = await findByPrefix(given, {
    what: "job",
    find: (id) => jobs.find(id),
    list: (before) => jobs.list({ limit: MAX_LISTED, before }),
    title: ({ user, status }) => `${status}, ${user}`,
  });
  return found ?? missing(given);
}

function missing(id: string): never {
  throw new Fault("missing", "job_not_found", `there is no job ${id}; "postern job list" shows all jobs`);
}

const rowOf =
  (shorten: (id: string) => string) =>
  ({ id, status, error, user, createdAt, completedAt }: ShownJob): string[] => [
    shorten(id),
    error ? `${status} (${error.code})` : status,
    user,
    relativeTime(createdAt),
    completedAt === undefined ? "" : relativeTime(completedAt),
  ];

const colourOf = (status: string): Colour | undefined =>
  status.includes("(") ? "red" : status === "running" ? "green" : undefined;

function show(job: ShownJob, json: boolean): void {
  if (json) sayJson(toWire(JobDetails, job));
  else print(inWords(job));
}

function inWords(job: ShownJob): string {
  const { response, error } = job;
  const told = Object.entries(toWire(JobDetails, job)).filter(
    ([name, value]) => value !== null && name !== "response" && name !== "error",
  );
  const lines = fields([
    ...told.map(([name, value]) => [name, String(value)]),
    ...(error === undefined ? [] : [["error", `${error.code}: ${error.message}`]]),
  ]);
  return `${lines}${response === undefined ? "" : `\n${response}`}`.trimEnd();
}

function print(text: string): void {
  say(`${text}\n`);
}
