/** What a task did, from the turns of its thread, and how the model that delegated it is told. */
import {
  answerText,
  distinctOrigins,
  INTERRUPTED,
  NO_USAGE,
  type Origin,
  othersIn,
} from "../../kernel/kit/turns.ts";
import type { Failure, Job, Services, TurnItem, TurnRecord } from "../../kernel/plugin.ts";
import type { OwnOutcome } from "../agent/services.ts";
import { callsOf, failureOf, originsOf, type Report, type TaskRow } from "./rows.ts";

export interface ReportParts {
  readonly threads: Pick<Services["threads"], "turns">;
  readonly models: Pick<Services["models"], "addUsage">;
  readonly toolCalls: Pick<Services["toolCalls"], "names"> | undefined;
  readonly tools: Services["tools"] | undefined;
}

const LOST: Failure = { code: "lost", message: "Its job was deleted before it had ended." };
const EARLIER = "An earlier attempt of this run had delegated it already, in other words: see the title.";
export const CANCELLED: Failure = { code: "cancelled", message: "The task was cancelled." };

export async function reportOf(parts: ReportParts, user: string, job: Job | undefined): Promise<Report> {
  const turns = job?.thread === undefined ? [] : await turnsOf(parts, user, job.thread);
  const items = turns.flatMap((turn) => turn.items);
  const error = job === undefined ? LOST : errorOf(job, turns.at(-1));
  const isCancelled = error?.code === CANCELLED.code;
  return {
    status: error === undefined ? "completed" : isCancelled ? "cancelled" : "failed",
    error: isCancelled ? CANCELLED : error,
    thread: job?.thread,
    calls: items.flatMap((item) => (item.type === "tool_call" ? [item.call.name] : [])),
    origins: await originsIn(parts, items),
    usage: turns.reduce((sum, { usage }) => parts.models.addUsage(sum, usage), NO_USAGE),
    answer: answerText({ items }),
  };
}

async function turnsOf({ threads }: ReportParts, user: string, thread: string) {
  const turns: TurnRecord[] = [];
  let before: string | undefined;
  do {
    const page = await threads.turns(user, thread, before === undefined ? {} : { before });
    turns.unshift(...page.items);
    before = page.next;
  } while (before !== undefined);
  return turns;
}

/** A turn that answered a gate of the task is no job's, and says itself how it ended. */
function errorOf(job: Job, last: TurnRecord | undefined): Failure | undefined {
  if (last === undefined || last.id === job.turn) return job.error ?? (last && cutOf(last));
  if (last.status === "cancelled") return CANCELLED;
  if (last.error?.code === INTERRUPTED)
    return { ...last.error, message: "It was interrupted by a restart, and was not run again." };
  return last.error ?? cutOf(last);
}

function cutOf({ incomplete }: TurnRecord): Failure | undefined {
  return incomplete && { code: "incomplete", message: `Its answer is not whole: ${incomplete}.` };
}

/** Whose words it read: of the message that it was given, of every tool that is not the agent's own, and of files. */
async function originsIn(parts: ReportParts, items: readonly TurnItem[]): Promise<readonly Origin[]> {
  const [names = [], installed = []] = await Promise.all([parts.toolCalls?.names(), parts.tools?.list()]);
  const servers = new Map(installed.map(({ name, server }) => [name, server]));
  const own = new Set(names.filter((name) => !servers.has(name)));
  const calls = new Map(
    items.flatMap((item) => (item.type === "tool_call" ? [[item.call.id, item.call.name] as const] : [])),
  );
  const originOf = (name: string): readonly Origin[] => {
    const server = servers.get(name);
    if (server) return [{ kind: "server", name: server.name }];
    return own.has(name) ? [] : [{ kind: "tool", name }];
  };
  const all = distinctOrigins(
    items.flatMap((item) => {
      const files = "attachments" in item ? (item.attachments ?? []) : [];
      const told: Origin[] = files.map(({ kind, name = kind }) => ({ kind: "file", name }));
      if (item.type === "tool_result")
        return [...(item.origins ?? []), ...originOf(calls.get(item.call) ?? ""), ...told];
      return item.type === "message" ? [...(item.origins ?? []), ...told] : told;
    }),
  );
  return othersIn(all);
}

/** The row as the model reads it. The task's own words stand beside it, and decide nothing. */
export function factsOf(row: TaskRow): Readonly<Record<string, unknown>> {
  return {
    task: row.id,
    title: row.title,
    status: row.status,
    error: failureOf(row),
    cost_usd: row.spent_usd,
    calls: callsOf(row),
    read_from: originsOf(row).map(({ kind, name }) => `${kind} ${name}`),
    answer: row.answer ?? "",
  };
}

/** No code of ours: whoever reads it must not take the task's words for the service's. */
export function outcomeOf(row: TaskRow, asked: string): OwnOutcome {
  const origins = originsOf(row);
  const usage = row.usage === null ? {} : { usage: JSON.parse(row.usage) };
  const note = asked === row.title ? undefined : EARLIER;
  const told = JSON.stringify({ ...factsOf(row), note });
  return row.status === "completed"
    ? { status: "ok", output: told, origins, ...usage }
    : { status: "error", code: `task_${row.status}`, message: told, origins, ...usage };
}
