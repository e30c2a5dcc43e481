/** Fits a thread into a model's window. What no longer fits is summarised once; the turns stay as they are. */

import { estimateText } from "../../../kernel/kit/turns.ts";
import { capText, escapeTags } from "../../../kernel/kit/untrusted.ts";
import { Fault, type Sql } from "../../../kernel/plugin.ts";
import type { Model, TokenCount } from "../../models/services.ts";
import type { AnswerPolicy } from "../services.ts";
import { readAttachments } from "../threads/attachments/stored.ts";
import { type History, orphansOf, type Past, type RenderedTurn, sumTokens } from "../threads/history.ts";
import type { Present } from "../threads/past-turns.ts";
import { NO_SUMMARY, type Summary } from "../threads/thread-row.ts";
import { estimateTokens, type RenderedMessage } from "../threads/tokens.ts";
import { isOnPath, type Path, readPath } from "../threads/turns/branch.ts";
import { withoutResult } from "../threads/turns/messages.ts";
import { SUMMARY_SYSTEM } from "./prompt.ts";
import { leaveOut, tooLong } from "./truncation.ts";

export interface Stored {
  readonly thread: string;
  /** Turns from this number on are not history. */
  readonly before: number;
  readonly summary: Summary;
  readonly path: Path;
  readonly past: Past;
}

export interface Room {
  readonly budget: number;
  /** How many of the newest turns are never summarised. */
  readonly kept: number;
  /** Puts a transcript into a few paragraphs; where it cannot, a digest takes its place. */
  summarise(transcript: string): Promise<string>;
}

// When the window is full this much of it is emptied, so that the next turns need no new summary.
const KEEP_AFTER_SUMMARY = 0.5;
// A summary reads at most so much of one message.
const MAX_TRANSCRIPT_ITEM_LENGTH = 2000;
const DIGEST_LINES = 40;
const LEFT_OUT = "[An earlier result, removed to save space.]";

export const TOO_LONG = new Fault("turn", "too_long", "The message is too long for the model. Shorten it.");

export type Context = ReturnType<typeof createContext>;

export type Fitted = Past & { readonly summary: string | undefined };

/** The context of a new thread. */
export function nothingStored(thread: string, before: number): Stored {
  return { thread, before, summary: NO_SUMMARY, path: [], past: { turns: [], open: [] } };
}

/** `keepsSummaries`: false where nothing may be written to the threads. */
export function createContext(sql: Sql, history: History, keepsSummaries = true) {
  const summaryOf = async (thread: string): Promise<Summary> => {
    const find = "SELECT summary, summarised_to FROM threads WHERE id = ?";
    const row = await sql.get<{ summary: string | null; summarised_to: number }>(find, thread);
    return { text: row?.summary ?? undefined, to: row?.summarised_to ?? 0 };
  };

  return {
    /** The bytes of attachments of a thread, of those that are there. */
    attachments: (thread: string, ids: readonly string[]) => readAttachments(sql, thread, ids),

    /** `given`: the summary that is known to be the newest. */
    async read({ thread, seq: before, isBranched }: Present, given: Summary | undefined): Promise<Stored> {
      const [known, path] = await Promise.all([
        given ?? summaryOf(thread),
        isBranched ? readPath(sql, thread, before) : [],
      ]);
      // Whose last turn is in this past tells of nothing else: every turn has one past.
      const summary = isOnPath(path, known.to) ? known : NO_SUMMARY;
      return { thread, before, summary, path, past: await history.read(thread, summary.to, before, path) };
    },

    /** History as it fits: a summary of the oldest, then whole turns. */
    async fit(stored: Stored, { budget, kept, summarise }: Room): Promise<Fitted> {
      const { thread, before, summary: known, path, past } = stored;
      const size = sumTokens(past.turns) + estimateText(known.text ?? "");
      if (size <= budget) return { ...past, summary: known.text };
      const cut = cutAt(past.turns, budget * KEEP_AFTER_SUMMARY, kept);
      const last = past.turns[cut - 1];
      if (last === undefined) return { ...past, summary: known.text };
      const old = past.turns.slice(0, cut).map(({ messages }) => messages);
      const text = await summariseTurns(known.text, [...old, orphansOf(past.turns[cut])], budget, summarise);
      const keep = "UPDATE threads SET summary = ?, summarised_to = ? WHERE id = ?";
      if (keepsSummaries)
        await sql.transaction((tx) => tx.run(keep, text, last.seq, thread), { flush: false });
      return { ...(await history.read(thread, last.seq, before, path)), summary: text };
    },
  };
}

/** How many of the oldest turns have to go for the rest to fit. */
function cutAt(turns: readonly RenderedTurn[], room: number, kept: number): number {
  let cut = Math.max(0, turns.length - kept);
  let tokens = sumTokens(turns.slice(cut));
  while (cut > 0 && tokens + (turns[cut - 1] as RenderedTurn).tokens <= room) {
    cut--;
    tokens += (turns[cut] as RenderedTurn).tokens;
  }
  return cut;
}

/** Puts what was said into a few paragraphs, in as many steps as the budget needs. */
export async function summariseTurns(
  known: string | undefined,
  turns: readonly (readonly RenderedMessage[])[],
  budget: number,
  summarise: (transcript: string) => Promise<string>,
): Promise<string> {
  let summary = known;
  let part = "";
  const longest = Math.max(4000, budget * 2);
  const fold = async () => {
    const transcript = summary === undefined ? part : `Summary so far:\n${summary}\n\n${part}`;
    summary = capText(await summarise(transcript), Math.max(1000, budget));
    part = "";
  };
  for (const messages of turns) {
    const lines = messages.map(transcribe).filter((line) => line !== "");
    if (part !== "" && part.length + lines.join("\n").length > longest) await fold();
    part += `${lines.join("\n")}\n`;
  }
  await fold();
  return summary ?? "";
}

function transcribe(message: RenderedMessage): string {
  switch (message.role) {
    case "user": {
      const attached = (message.attachments ?? []).map(({ kind, name }) => `[${name ?? kind}]`);
      return `User: ${capText([message.text, ...attached].join(" "), MAX_TRANSCRIPT_ITEM_LENGTH)}`;
    }
    case "assistant": {
      const calls = message.calls.map(({ name, params }) => `called ${name} with ${params}`).join(", ");
      return `Assistant: ${capText([message.text, calls].filter(Boolean).join(" — "), MAX_TRANSCRIPT_ITEM_LENGTH)}`;
    }
    case "tool":
      return `Result of ${message.call.name}: ${capText(message.output, MAX_TRANSCRIPT_ITEM_LENGTH)}`;
  }
}

/** Has a model put a transcript into a few paragraphs; a digest where it has nothing to say. Throws what the model throws. */
export async function summarise(
  model: Model,
  transcript: string,
  {
    signal,
    alive,
    count,
  }: { signal: AbortSignal; alive?(): void; count(tokens: TokenCount): void | Promise<void> },
): Promise<string> {
  const messages = [{ role: "user", text: transcript } as const];
  const request = { system: SUMMARY_SYSTEM, messages, tools: [], temperature: undefined };
  let text = "";
  for await (const parts of model.stream(request, signal)) {
    alive?.();
    for (const part of parts) {
      if (part.type === "text") text += part.delta;
      else if (part.type === "usage") await count(part);
    }
  }
  return text.trim() === "" ? digest(transcript) : text;
}

/** A summary without a model: the beginnings of what was said, the newest kept longest. */
export function digest(transcript: string): string {
  const lines = transcript
    .split("\n")
    .filter((line) => /^(User|Assistant|- )/.test(line))
    .map((line) => (line.startsWith("- ") ? line : `- ${line.slice(0, 160)}`));
  const kept = lines.slice(-DIGEST_LINES);
  const gone = lines.length - kept.length;
  return [...(gone > 0 ? [`(${gone} earlier lines are only in the stored turns.)`] : []), ...kept].join("\n");
}

/** The parts of a request that may not be summarised or shortened. */
export interface Sent {
  /** How many of the newest stored turns came with it. */
  readonly turns: number;
  /** Calls whose results came with it. */
  readonly calls: ReadonlySet<string>;
  /** Absent: it fails only where the turn alone does not fit. */
  readonly truncation: AnswerPolicy["truncation"];
}

/** The messages of one request: summary, history, this turn; its own oldest results give way first. */
export function assemble(
  past: Fitted,
  present: { readonly messages: readonly RenderedMessage[]; readonly open: Past["open"] },
  { budget, window }: { readonly budget: number; readonly window: number },
  { turns, calls, truncation }: Sent,
): readonly RenderedMessage[] {
  const summary: readonly RenderedMessage[] =
    past.summary === undefined
      ? []
      : [{ role: "user", text: `<summary>\n${escapeTags(past.summary)}\n</summary>` }];
  const own = [...present.messages];
  const from = past.turns.length - turns;
  const before = [...summary, ...past.turns.slice(0, from).flatMap(({ messages }) => messages)];
  let brought = past.turns.slice(from).flatMap(({ messages }) => messages);
  let left = budget - sumTokens(past.turns) - estimateText(past.summary ?? "") - estimateOf(own);
  for (let at = 0; left < 0 && at < own.length - 1; at++) {
    const message = own[at] as RenderedMessage;
    if (message.role !== "tool" || message.output === LEFT_OUT || calls.has(message.call.id)) continue;
    const shorter = { ...message, output: LEFT_OUT };
    left += estimateTokens(message) - estimateTokens(shorter);
    own[at] = shorter;
  }
  const size = estimateOf(brought) + estimateOf(own);
  if (left < 0 && size > budget) {
    if (truncation === undefined) throw TOO_LONG;
    const fitting = truncation === "auto" ? leaveOut(brought, size - budget) : undefined;
    if (fitting === undefined) throw tooLong(size, budget, window);
    brought = fitting;
  }
  return [...before, ...brought, ...own, ...withoutResult(present.open)];
}

function estimateOf(messages: readonly RenderedMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}
