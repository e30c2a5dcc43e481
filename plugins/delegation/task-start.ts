/** Begins a task: one row and one job in one transaction, within the limits of its tree. */
import { hash, randomUUIDv7 } from "node:crypto";
import { visibleLine } from "../../kernel/kit/text.ts";
import { distinctOrigins, MODEL, type TurnTask } from "../../kernel/kit/turns.ts";
import { type Clock, Fault, type Services, type Sql, type Transaction } from "../../kernel/plugin.ts";
import type { Delegating, OwnToolContext } from "../agent/services.ts";
import type { NewJob } from "../jobs/services.ts";
import { findRow, type TaskRow } from "./rows.ts";
import type { DelegationSettings } from "./settings.ts";

export interface Asked {
  readonly task: string;
  readonly handover?: string;
  readonly tools?: readonly string[];
  readonly model?: string;
  readonly budget_usd?: number;
  readonly deadline_secs?: number;
  readonly background?: boolean;
}

export interface BeginningParts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly jobs: Pick<Services["jobs"], "submit" | "assertRoom">;
  readonly threads: Pick<Services["threads"], "find">;
  readonly config: DelegationSettings;
}

/** Jobs of this channel run beside others: a turn waits for them. */
export const TASK_CHANNEL = "task";

const MAX_TITLE_LENGTH = 80;
const HANDOVER = "the conversation that delegated this";

const ABOUT = `You do a task that another agent has delegated to you; the message says what. You see nothing of its conversation, and nobody else reads your answer. Do the task, and answer with the result alone. Say plainly what you could not do, and why: what you did not do must not sound done.`;

type BeginContext = OwnToolContext & { readonly delegating: Delegating; readonly turn: string };

/** The task of this call, which an earlier attempt of the same turn may have begun. */
export async function beginTask(
  parts: BeginningParts,
  asked: Asked,
  context: BeginContext,
): Promise<TaskRow> {
  const { sql } = parts;
  const { user, thread, turn, delegating } = context;
  const { task: above, job: owner = null, call } = delegating;
  const parent = above && (await findRow(sql, above.id));
  const root = parent?.root ?? owner ?? turn;
  const key = hash("sha256", JSON.stringify([asked, thread === parent?.thread]), "base64url");
  const id = randomUUIDv7();
  const title = titleOf(asked.task);
  const job = await jobOf(parts, asked, context, { id, title });
  await parts.jobs.assertRoom(job);
  return await sql.transaction(async (tx) => {
    // Locks the tree: of two calls at once, the second counts the first.
    await tx.run(
      `INSERT INTO task_trees (root, "user", budget_usd, root_usd) VALUES (?, ?, ?, ?)
       ON CONFLICT (root) DO UPDATE SET root = excluded.root`,
      ...[root, user, delegating.budgetUsd ?? null, delegating.spentUsd()],
    );
    const isBackground = asked.background ? 1 : 0;
    const known = await findBegun(tx, { owner, key, turn, call, isBackground });
    if (known) return known;
    const depth = (parent?.depth ?? 0) + 1;
    await assertWithin(tx, parts.config, root, depth);
    const secs = asked.deadline_secs ?? parts.config.timeoutSecs;
    const deadline = Math.min(
      parts.clock.now() + secs * 1000,
      parent?.deadline_at ?? Number.MAX_SAFE_INTEGER,
    );
    const columns = {
      id,
      user,
      root,
      root_thread: parent?.root_thread ?? thread,
      parent: parent?.id ?? null,
      parent_thread: thread,
      parent_turn: turn,
      call,
      owner,
      asked: key,
      depth,
      title,
      is_background: isBackground,
      is_scoped: delegating.scopes.length > 0 ? 1 : 0,
      is_unattended: context.unattended ? 1 : 0,
      wakes: isBackground,
      status: "queued",
      budget_usd: asked.budget_usd ?? null,
      deadline_at: deadline,
      created_at: new Date(parts.clock.now()).toISOString(),
    };
    const names = Object.keys(columns).map((name) => `"${name}"`);
    const row = await tx.get<TaskRow>(
      `INSERT INTO tasks (${names}) VALUES (${names.map(() => "?")}) RETURNING *`,
      ...Object.values(columns),
    );
    await parts.jobs.submit(job, tx);
    return row as TaskRow;
  });
}

interface BeginningCall {
  readonly owner: string | null;
  readonly key: string;
  readonly turn: string;
  readonly call: string;
  readonly isBackground: number;
}

/**
 * Of this call, or of the same call in an earlier attempt of the job. A model may word it anew in the next attempt: then it is the task that was begun
 * at the same place among those of the job, which must not be done twice.
 */
async function findBegun(
  tx: Transaction,
  { owner, key, turn, call, isBackground }: BeginningCall,
): Promise<TaskRow | undefined> {
  const same = "SELECT * FROM tasks WHERE parent_turn = ? AND call = ? AND asked = ?";
  const found = await tx.get<TaskRow>(same, turn, call, key);
  if (found !== undefined || owner === null) return found;
  const begun = await tx.all<TaskRow & { readonly asked: string }>(
    "SELECT * FROM tasks WHERE owner = ? ORDER BY seq",
    owner,
  );
  const isFree = (row: TaskRow | undefined) =>
    row?.parent_turn !== turn && row?.is_background === isBackground;
  const place = begun.filter((row) => row.parent_turn === turn).length;
  const earlier = begun.find((row) => isFree(row) && row.asked === key) ?? begun[place];
  if (earlier === undefined || !isFree(earlier)) return undefined;
  return await tx.get<TaskRow>(
    "UPDATE tasks SET parent_turn = ?, call = ? WHERE id = ? RETURNING *",
    ...[turn, call, earlier.id],
  );
}

async function assertWithin(
  tx: Transaction,
  { atOnce, depth: deepest, perTree }: DelegationSettings,
  root: string,
  depth: number,
): Promise<void> {
  if (depth > deepest)
    throw refusal("too_deep", `Tasks go at most ${deepest} deep. Do this part yourself (TASKS_DEPTH).`);
  const counted = await tx.get<{ all: number; open: number | null }>(
    `SELECT count(*) AS "all", sum(CASE WHEN completed_at IS NULL THEN 1 ELSE 0 END) AS "open" FROM tasks WHERE root = ?`,
    root,
  );
  if (Number(counted?.all ?? 0) >= perTree)
    throw refusal(
      "too_many_tasks",
      `There were ${perTree} tasks already, which is the most (TASKS_PER_TREE).`,
    );
  if (Number(counted?.open ?? 0) >= atOnce)
    throw refusal(
      "too_many_tasks",
      `${atOnce} tasks are open already, which is the most at once (TASKS_AT_ONCE). Wait for one to end.`,
    );
}

const refusal = (code: string, message: string) => new Fault("turn", code, message);

/** At most what the parent has: its scopes, and of its tools those that were named. */
async function jobOf(
  { threads }: BeginningParts,
  { task, handover = "", tools, model }: Asked,
  { user, thread, turn, unattended, originsOf, delegating }: BeginContext,
  { id, title }: { readonly id: string; readonly title: string },
): Promise<NewJob> {
  const said = [task, handover].filter((text) => text !== "").join("\n\n");
  // Even where nobody else has said anything: it is no message of the person's.
  const origins = distinctOrigins([MODEL, ...((await originsOf?.(said)) ?? [])]);
  // What may be a stranger's is handed over as data.
  const isData = handover !== "" && origins.length > 1;
  const { scopes: inherited, task: above } = delegating;
  const scopes = [...inherited, ...(tools ? [{ token: `task ${id}`, tools: [...tools] }] : [])];
  const own: TurnTask = {
    id,
    path: [...(above?.path ?? []), title],
    scopes,
    turns: [...(above?.turns ?? []), turn],
  };
  const chosen = model === undefined ? (await threads.find(user, thread))?.model : wantedModel(model);
  return {
    id,
    user,
    channel: TASK_CHANNEL,
    message: isData ? task : said,
    turn: {
      preamble: {
        instructions: ABOUT,
        origins,
        ...(isData && { outside: { origin: HANDOVER, data: { handover }, origins } }),
      },
      ...(chosen && { answer: { model: chosen } }),
      work: { task: own, ...(unattended && { unattended }) },
    },
  };
}

function wantedModel(model: string): { readonly provider?: string; readonly name: string } {
  const [provider, ...name] = model.split("/");
  return name.length === 0 ? { name: model } : { provider, name: name.join("/") };
}

export function titleOf(task: string): string {
  const line = visibleLine(task.trim().split("\n", 1)[0] ?? "").trim();
  return line.length > MAX_TITLE_LENGTH ? `${line.slice(0, MAX_TITLE_LENGTH).toWellFormed()}…` : line;
}
