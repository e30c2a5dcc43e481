/** Finds the response that a request replays. Clients keep the words, not the bytes, so normalized items are compared. */

import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { giveWay } from "../../../kernel/kit/concurrency.ts";
import type { Services, TurnRecord } from "../../../kernel/plugin.ts";
import type { GivenItem } from "../parse/items.ts";
import { MAX_ALIKE, type Requests, type TakenRequest } from "../stored/requests.ts";
import type { WireTool } from "../wire/format.ts";
import { digestOf } from "./attachments.ts";
import { pendingOf } from "./gate.ts";
import { outputItems } from "./history.ts";

export interface Match {
  readonly row: TakenRequest;
  readonly record: TurnRecord;
  /** The items after the output of that response. */
  readonly rest: readonly GivenItem[];
}

interface MatchParts {
  readonly requests: Pick<Requests, "findByDigest" | "find">;
  readonly threads: Pick<Services["threads"], "turn" | "turns">;
}

const ITEMS_AT_A_STRETCH = 1000;
const MAX_PREFIXES = 64;
const MAX_RECORDS = 8;

/** Finds the replayed response, and the digest by which a later request finds this one, if it has the same `seed`. */
export async function matchReplay(
  user: string,
  items: readonly GivenItem[],
  seed: string,
  { requests, threads }: MatchParts,
): Promise<{ readonly digest: string; readonly match: Match | undefined }> {
  const entries = await entriesOf(items);
  const length = entries.reduce((sum, { canon }) => sum + canon.length, 0);
  await giveWay(length);
  const digests = await digestsOf(entries, seed);
  await giveWay(length);
  const digest = digests.at(-1) as string;
  const none = { digest, match: undefined };
  const starts = entries
    .flatMap(({ isAssistants }, at) => (isAssistants && at > 0 && !entries[at - 1]?.isAssistants ? [at] : []))
    .slice(-MAX_PREFIXES)
    .reverse();
  if (starts.length === 0) return none;
  const found = await requests.findByDigest(
    user,
    starts.map((at) => digests[at] as string),
  );
  let looked = 0;
  for (const at of starts) {
    const same = found.filter((row) => row.digest === digests[at]);
    const matches: Match[] = [];
    for (const { id } of same) {
      if (++looked > MAX_RECORDS) return none;
      const [row, record] = await Promise.all([requests.find(user, id), threads.turn(user, id)]);
      if (row === undefined || record === undefined) continue;
      const output = await outputEntries(record, row.echo.tools);
      const follows =
        output.length > 0 && output.every((canon, index) => entries[at + index]?.canon === canon);
      if (follows) matches.push({ row, record, rest: items.slice(entries[at + output.length - 1]?.end) });
    }
    const [match] = matches;
    if (match === undefined) continue;
    if (!isCertain(matches, same.length)) return none;
    const newest = await threads.turns(user, match.record.thread, { limit: 1 });
    // A replay does not wait for a thread with a turn in progress.
    const isFree = newest.items.every(({ status }) => status !== "queued" && status !== "running");
    if (isFree) return { digest, match };
  }
  return none;
}

/**
 * Many conversations begin alike, and an application may have them for many people: each thread holds what the others must
 * not see, such as what the agent's tools found. Calls have ids that no other conversation has; words have not.
 */
function isCertain(matches: readonly Match[], same: number): boolean {
  if (new Set(matches.map(({ record }) => record.thread)).size > 1) return false;
  return same < MAX_ALIKE || matches.some(({ record }) => pendingOf(record).size > 0);
}

const ENDED: ReadonlySet<TurnRecord["status"]> = new Set(["completed", "waiting"]);

async function outputEntries(record: TurnRecord, tools: readonly WireTool[]): Promise<readonly string[]> {
  if (!ENDED.has(record.status)) return [];
  return (await entriesOf(outputItems(record, tools))).map(({ canon }) => canon);
}

/** A message, a call, an output, or several messages of the assistant in a row. */
interface Entry {
  readonly canon: string;
  readonly isAssistants: boolean;
  /** The number of items up to its end. */
  readonly end: number;
}

async function entriesOf(items: readonly GivenItem[]): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let speech: string | undefined;
  const speak = (end: number) => {
    if (speech) entries.push({ canon: JSON.stringify(["said", speech]), isAssistants: true, end });
    speech = undefined;
  };
  for (const [index, item] of items.entries()) {
    await breatheAfter(index);
    if (item.type === "message" && item.role === "assistant") {
      speech = (speech ?? "") + item.text.replaceAll(/\s/g, "");
      continue;
    }
    if (item.type === "reasoning") continue;
    speak(index);
    entries.push({ canon: canonOf(item), isAssistants: item.type === "function_call", end: index + 1 });
  }
  speak(items.length);
  return entries;
}

function canonOf(item: Exclude<GivenItem, { type: "reasoning" }>): string {
  switch (item.type) {
    case "message": {
      const role = item.role === "developer" ? "system" : item.role;
      return JSON.stringify([role, item.text, (item.attachments ?? []).map(digestOf)]);
    }
    case "function_call":
      return JSON.stringify(["call", item.call, item.name, canonicalJson(item.params)]);
    case "function_call_output":
      return JSON.stringify(["output", item.call, item.output, (item.attachments ?? []).map(digestOf)]);
  }
}

/** The digests of all prefixes: of no entries, of one, of two, and so on. */
async function digestsOf(entries: readonly Entry[], seed: string): Promise<readonly string[]> {
  let digest = hash("sha256", seed, "base64url");
  const digests = [digest];
  for (const [index, { canon }] of entries.entries()) {
    await breatheAfter(index);
    digest = hash("sha256", digest + canon, "base64url");
    digests.push(digest);
  }
  return digests;
}

/** Lets others have their turn after so many items. */
async function breatheAfter(index: number): Promise<void> {
  if (index % ITEMS_AT_A_STRETCH === ITEMS_AT_A_STRETCH - 1) await setImmediate();
}

/** Equal arguments have equal JSON; a text that is no JSON is taken as it is. */
function canonicalJson(text: string): unknown {
  try {
    return sorted(JSON.parse(text));
  } catch {
    return text;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
