/** `postern jobs list|show|cancel|retry`: the durable queue from the command line, also while the service runs. */
import { type Command, InvalidArgumentError } from "commander";
import { fields, JobDetails, JobStatus as STATUS, say, sayJson, table, toWire } from "../../../kernel/kit.ts";
import type { CommandContext } from "../../../kernel/plugin.ts";
import { Fault, type Job, type JobStatus } from "../../../kernel/plugin.ts";

type ListedStatus = JobStatus | "failed";
const STATUSES: readonly ListedStatus[] = [...STATUS.enum, "failed"];
const MAX_LISTED = 1000;

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
    .option("--limit <count>", `how many, up to ${MAX_LISTED}`, parseLimit, 20)
    .option("--before <cursor>", "go on where an earlier list ended")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern jobs list --status queued")
    .action(({ json = false, limit, ...query }: ListOptions) =>
      context.with(["jobs"], async ({ jobs }) => {
        const { items, next } = await jobs.list({ limit, ...query });
        if (json) sayJson({ jobs: items.map((job) => toWire(JobDetails, job)), next: next ?? null });
        else if (items.length === 0) print("No jobs.");
        else
          print(
            `${table(["JOB", "STATUS", "USER", "CREATED", "COMPLETED"], items.map(row)).trimEnd()}${next ? `\nMore: postern jobs list --before ${next}` : ""}`,
          );
      }),
    );

  group
    .command("show")
    .description("show one job")
    .argument("<job_id>")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern jobs show 0c9c2a52-6b1d-4f6e-8a44-3c1f7a0f8d11")
    .action((id: string, { json = false }: { json?: boolean }) =>
      context.with(["jobs"], async ({ jobs }) => show((await jobs.find(id)) ?? missing(id), json)),
    );

  group
    .command("cancel")
    .description("cancel a queued or running job")
    .argument("<job_id>")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern jobs cancel 0c9c2a52-6b1d-4f6e-8a44-3c1f7a0f8d11")
    .action((id: string, { json = false }: { json?: boolean }) =>
      context.with(["jobs"], async ({ jobs }) => show((await jobs.cancel(id)) ?? missing(id), json)),
    );

  group
    .command("retry")
    .description("put a new job with the same message into the queue")
    .argument("<job_id>")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern jobs retry 0c9c2a52-6b1d-4f6e-8a44-3c1f7a0f8d11")
    .action((id: string, { json = false }: { json?: boolean }) =>
      context.with(["jobs"], async ({ jobs }) => show((await jobs.retry(id)) ?? missing(id), json)),
    );
}

function parseStatus(text: string): ListedStatus {
  const status = STATUSES.find((known) => known === text);
  if (status === undefined) throw new InvalidArgumentError(`Use one of ${STATUSES.join(", ")}.`);
  return status;
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_LISTED}.`);
  return limit;
}

function missing(id: string): never {
  throw new Fault("missing", "job_not_found", `there is no job ${id}; "postern jobs list" shows all jobs`);
}

function row({ id, status, error, user, createdAt, completedAt }: Job): string[] {
  return [id, error ? `${status} (${error.code})` : status, user, createdAt, completedAt ?? ""];
}

function show(job: Job, json: boolean): void {
  if (json) sayJson(toWire(JobDetails, job));
  else print(inWords(job));
}

function inWords(job: Job): string {
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
