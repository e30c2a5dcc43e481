/** Fills in the answers that are owed, from the turns of jobs that have completed. */
import { answerText } from "../../kernel/kit/turns.ts";
import type { Job, Transaction } from "../../kernel/plugin.ts";
import type { Files } from "./files.ts";
import type { Gates } from "./gates.ts";
import type { Content, OwedRow, Part } from "./outbox.ts";
import type { ChannelParts } from "./parts.ts";

export interface AnswerParts
  extends Pick<
    ChannelParts,
    "service" | "sql" | "inbox" | "outbox" | "jobs" | "threads" | "identities" | "write"
  > {
  readonly gates: Gates;
  readonly files: Files;
  /** Resolves when nothing more of this job is shown while it runs. */
  settle(job: string): Promise<void>;
}

export function createAnswers(parts: AnswerParts) {
  const { sql, outbox, jobs, identities } = parts;

  async function fill(row: OwedRow): Promise<void> {
    const job = await jobs.find(row.job);
    if (job === undefined) return void (await outbox.loseOwed(row.job, "Its answer is no longer kept."));
    // It was kept while somebody let its sender in: it is theirs too.
    const account = job.waitingFor === "pairing" ? await identities.account(job.user) : undefined;
    if (account !== undefined) await identities.pair(job.user, account);
    if (job.status !== "completed") return;
    await parts.settle(job.id);
    const answer = await answerOf(parts, job, row);
    await sql.transaction(async (tx) => {
      if (answer === undefined) await outbox.forgetOwed(job.id, tx);
      else if (await outbox.fill(tx, job.id, answer.content)) await answer.keep?.(tx);
    });
  }

  return {
    async fillFor(job: string): Promise<void> {
      const row = await outbox.findOwed(job);
      if (row) await fill(row);
    },
    /** Finds answers whose jobs completed without us hearing of it. */
    async fillAll(): Promise<void> {
      for (let page = await outbox.owed(); page.length > 0; page = await outbox.owed(page.at(-1)?.job))
        for (const row of page) await fill(row);
    },
  };
}

/** The messages of a job that has completed; undefined if nothing is to be said. */
async function answerOf(
  parts: AnswerParts,
  job: Job,
  { conversation, line }: OwedRow,
): Promise<{ readonly content: Content; keep?(tx: Transaction): Promise<unknown> } | undefined> {
  const { service, threads, gates, files, write } = parts;
  if (job.error?.code === "pairing_denied") return undefined;
  const record = job.turn === undefined ? undefined : await threads.turn(job.user, job.turn);
  if (record && record.id !== job.turn && (await isAnsweredBefore(parts, job, { line, turn: record.id })))
    return undefined;
  const gate = record?.status === "waiting" ? record.gate : undefined;
  const asking = gate && gates.ask(gate, { conversation, line, user: job.user });
  // If others took the turn over at its end, what it said is with the job alone.
  const isWhole = asking || (job.error === undefined && record?.error === undefined);
  const said = record && isWhole ? answerText(record) : (job.response ?? "");
  const { refs, notes } = record ? await files.of(record) : { refs: [], notes: [] };
  const words = [said.trim(), ...notes].filter((one) => one !== "").join("\n\n");
  const texts = words === "" && (asking || refs.length > 0) ? [] : write(words || "Done.").parts;
  const all = withFiles(texts, refs, service.format === "mail");
  return asking
    ? { content: { ...asking.content, parts: [...all, ...asking.content.parts] }, keep: asking.keep }
    : { content: { parts: all } };
}

/** True if an earlier message of the line is answered by the same turn, which took both: one answer is for all of them. */
async function isAnsweredBefore(
  { inbox, jobs, threads }: AnswerParts,
  { id, user }: Job,
  { line, turn }: { readonly line: string; readonly turn: string },
): Promise<boolean> {
  const last = await inbox.jobsOf(line);
  for (const earlier of last.slice(last.indexOf(id) + 1)) {
    const job = await jobs.find(earlier);
    if (job?.turn !== undefined && (await threads.turn(user, job.turn))?.id === turn) return true;
  }
  return false;
}

/** A mail has its files with it; elsewhere each is a message of its own. */
function withFiles(
  texts: readonly Part[],
  refs: NonNullable<Part["files"]>,
  isMail: boolean,
): readonly Part[] {
  if (!isMail || refs.length === 0) return [...texts, ...refs.map((file) => ({ text: "", files: [file] }))];
  const last = texts.at(-1) ?? { text: "" };
  return [...texts.slice(0, -1), { ...last, files: refs }];
}
