/** A list published as JSON. It is a stranger's text, so it is bounded, and a wrong entry is left out with a sentence. */
import { readFile, stat } from "node:fs/promises";
import { visibleLine, withoutHidden } from "../../../kernel/kit/text.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import { type Downloads, getFile } from "../download.ts";

export interface Listing<Entry> {
  readonly entries: readonly Entry[];
  readonly problems: readonly string[];
}

const MAX_INDEX_BYTES = 1024 * 1024;
const MAX_ENTRIES = 2000;
const MAX_PROBLEMS = 10;
const TIMEOUT_MS = 15_000;

/** `index`: where the text is from. `readEntry` throws a fault that says what is wrong. */
export function parseListing<Entry extends { readonly name: string }>(
  text: string,
  index: string,
  kind: "tool" | "server",
  readEntry: (value: unknown) => Entry,
): Listing<Entry> {
  const entries = new Map<string, Entry>();
  const problems: string[] = [];
  for (const [at, value] of readList(text, index, kind).entries()) {
    try {
      const entry = readEntry(value);
      const key = entry.name.toLowerCase();
      if (entries.has(key)) throw new Fault("invalid", "bad_index", `it lists ${entry.name} twice`);
      entries.set(key, entry);
    } catch (error) {
      const noun = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
      problems.push(`${noun} ${at + 1} of the index ${index} is left out: ${visibleLine(reason(error))}.`);
    }
  }
  const more = problems.length - MAX_PROBLEMS;
  return {
    entries: [...entries.values()],
    problems: more > 0 ? [...problems.slice(0, MAX_PROBLEMS), `${more} more are left out.`] : problems,
  };
}

function readList(text: string, index: string, kind: "tool" | "server"): readonly unknown[] {
  let value: Readonly<Record<string, unknown>> | null;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unusable(index, `it is not JSON (${visibleLine(reason(error))})`, error);
  }
  const list = value?.[`${kind}s`];
  if (!Array.isArray(list)) throw unusable(index, `it has no list of "${kind}s"`);
  if (list.length > MAX_ENTRIES)
    throw unusable(index, `it lists ${list.length} ${kind}s; at most ${MAX_ENTRIES} are read`);
  return list;
}

function unusable(index: string, why: string, cause?: unknown): Fault {
  return new Fault("invalid", "bad_index", `The index ${index} cannot be used: ${why}.`, { cause });
}

export interface ListingPlaces {
  readonly downloads: Downloads;
  /** URLs, or what `fileOf` finds a file for. */
  readonly named: readonly string[];
  readonly fileOf: (name: string) => string;
  readonly signal?: AbortSignal | undefined;
}

/** Entries in the order of the names; an index that cannot be read is a problem in words. */
export async function readListings<Entry>(
  { downloads, named, fileOf, signal }: ListingPlaces,
  parse: (text: string, index: string) => Listing<Entry>,
): Promise<Listing<Entry>> {
  const readings = await Promise.all(
    named.map(async (name): Promise<Listing<Entry>> => {
      try {
        const text = isUrl(name) ? readRemote(downloads, name, signal) : readLocal(fileOf(name));
        return parse(await text, name);
      } catch (error) {
        if (signal?.aborted === true) throw error;
        return { entries: [], problems: [visibleLine(reason(error))] };
      }
    }),
  );
  return {
    entries: readings.flatMap(({ entries }) => entries),
    problems: readings.flatMap(({ problems }) => problems),
  };
}

export function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

async function readRemote(downloads: Downloads, url: string, signal?: AbortSignal): Promise<string> {
  const bytes = await getFile(downloads, url, `the index ${url}`, {
    maxBytes: MAX_INDEX_BYTES,
    timeoutMs: TIMEOUT_MS,
    accept: "application/json",
    signal,
  });
  return Buffer.from(bytes).toString("utf8");
}

async function readLocal(file: string): Promise<string> {
  const refuse = (error: unknown) => Promise.reject(unusable(file, reason(error), error));
  const found = await stat(file).catch(refuse);
  // A device or a pipe has no size, and may never end.
  if (!found.isFile()) throw unusable(file, "it is not a file");
  if (found.size > MAX_INDEX_BYTES)
    throw unusable(file, `it has ${found.size} bytes; at most ${MAX_INDEX_BYTES} are read`);
  return readFile(file, "utf8").catch(refuse);
}

/** On one line, without what an eye would not see. */
export function sentence(text: string, length: number): string {
  const line = withoutHidden(text.slice(0, 4 * length))
    .replaceAll("\n", " ")
    .replaceAll("\t", " ")
    .trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** The best first. Every word has to be in the name or the sentence; no words find everything. */
export function searchEntries<Entry extends { readonly name: string; readonly about: string }>(
  entries: readonly Entry[],
  words: readonly string[],
): readonly Entry[] {
  const wanted = words.flatMap((word) => word.toLowerCase().split(" ")).filter((word) => word !== "");
  const scored = entries.flatMap((entry) => {
    const scores = wanted.map((word) => score(entry, word));
    return scores.includes(0) ? [] : [{ entry, score: scores.reduce((sum, one) => sum + one, 0) }];
  });
  return scored
    .sort((one, other) => other.score - one.score || one.entry.name.localeCompare(other.entry.name))
    .map(({ entry }) => entry);
}

function score({ name, about }: { readonly name: string; readonly about: string }, word: string): number {
  const lower = name.toLowerCase();
  if (lower === word) return 8;
  if (lower.startsWith(word)) return 4;
  if (lower.includes(word)) return 2;
  return about.toLowerCase().includes(word) ? 1 : 0;
}
