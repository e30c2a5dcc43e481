/** A thread as a text to keep, written turn by turn: however long it is, only two pages of it are in memory. */

import { toWire } from "../../../../kernel/kit/schema.ts";
import { withoutHidden } from "../../../../kernel/kit/text.ts";
import { ThreadSummary, TurnRecord as WireTurn } from "../../../../kernel/kit/turns.ts";
import type { TurnRecord } from "../../../../kernel/plugin.ts";
import type { ExportedThread, ExportFormat, Threads } from "../../services.ts";
import { noThread } from "../thread-row.ts";
import { toMarkdown } from "./markdown.ts";

const TURNS_AT_ONCE = 50;

type Source = Pick<Threads, "find" | "turns">;

const FORMATS = {
  // To be read: as the conversation went, without what was edited or regenerated away.
  markdown: { ending: "md", mime: "text/markdown", write: toMarkdown, usual: "newest" },
  json: { ending: "json", mime: "application/json", write: toJson, usual: undefined },
};

export async function exportThread(
  threads: Source,
  user: string,
  thread: string,
  format: ExportFormat,
  through?: string,
): Promise<ExportedThread> {
  const summary = await threads.find(user, thread);
  if (summary === undefined) throw noThread(thread);
  const { ending, mime, write, usual } = FORMATS[format];
  const path = through ?? usual;
  // Before the first word of it is sent.
  if (path !== undefined) await threads.turns(user, thread, { limit: 1, through: path });
  return {
    name: `${fileNameOf(summary.title)}.${ending}`,
    mime,
    text: write(summary, oldestFirst(threads, user, thread, path)),
  };
}

/** Pages lead back in time, so the way to the first is walked before the first is written. */
async function* oldestFirst(
  threads: Source,
  user: string,
  thread: string,
  through: string | undefined,
): AsyncGenerator<TurnRecord> {
  const read = (before?: string) => threads.turns(user, thread, { limit: TURNS_AT_ONCE, before, through });
  // Kept: it would have moved on by the time it is written.
  const newest = await read();
  const cursors: string[] = [];
  for (let { next } = newest; next !== undefined; next = (await read(next)).next) cursors.push(next);
  for (const before of cursors.reverse()) yield* (await read(before)).items;
  yield* newest.items;
}

async function* toJson(thread: ThreadSummary, turns: AsyncIterable<TurnRecord>): AsyncGenerator<string> {
  yield `{"thread":${JSON.stringify(toWire(ThreadSummary, thread))},"turns":[`;
  let separator = "\n";
  for await (const turn of turns) {
    yield separator + JSON.stringify(toWire(WireTurn, turn));
    separator = ",\n";
  }
  yield "\n]}\n";
}

// Windows cannot open its devices' names, whatever their ending.
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Keeps to characters that every file system and shell accepts. */
function fileNameOf(title: string): string {
  const words = withoutHidden(title)
    .toWellFormed()
    .split(/[\s\p{Cc}\\/:*?"'<>|`$%&;!#{}[\]()~^=+,@]/u);
  const name = words
    .filter(Boolean)
    .join(" ")
    .replace(/^[ .-]+/, "");
  return name === "" || RESERVED.test(name) ? "thread" : name;
}
