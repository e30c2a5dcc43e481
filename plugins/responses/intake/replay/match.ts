/** Finds the response that a request without a previous id goes on from: its input and its output, and then something new. */
import type { Services, TurnRecord } from "../../../../kernel/plugin.ts";
import type { WireTool } from "../../answer/wire.ts";
import { calledTool, customInput, customParams } from "../../tool-names.ts";
import type { GivenItem } from "../items.ts";
import { MOST_ALIKE, type Requests, type TakenRequest } from "../requests.ts";
import { digestsOf, type Entry, entriesOf } from "./digest.ts";

export interface Match {
  readonly row: TakenRequest;
  readonly record: TurnRecord;
  /** What comes after the output of that response. */
  readonly rest: readonly GivenItem[];
}

export interface Replayed {
  /** Of the whole input, by which a later request finds this one. */
  readonly digest: string;
  readonly match: Match | undefined;
}

export interface MatchParts {
  readonly requests: Pick<Requests, "findByDigest" | "find">;
  readonly threads: Pick<Services["threads"], "turn" | "turns">;
}

const MOST_PREFIXES = 64;
const MOST_RECORDS = 8;

/** `seed`: requests of another kind are never taken for these. */
export async function matchReplay(
  user: string,
  items: readonly GivenItem[],
  seed: string,
  parts: MatchParts,
): Promise<Replayed> {
  const entries = entriesOf(items);
  const digests = digestsOf(entries, seed);
  const digest = digests.at(-1) as string;
  const match = await findMatch(user, items, entries, digests, parts);
  return { digest, match };
}

async function findMatch(
  user: string,
  items: readonly GivenItem[],
  entries: readonly Entry[],
  digests: readonly string[],
  { requests, threads }: MatchParts,
): Promise<Match | undefined> {
  const starts = entries
    .flatMap(({ isAssistants }, at) => (isAssistants && at > 0 && !entries[at - 1]?.isAssistants ? [at] : []))
    .slice(-MOST_PREFIXES)
    .reverse();
  if (starts.length === 0) return undefined;
  const found = await requests.findByDigest(
    user,
    starts.map((at) => digests[at] as string),
  );
  let looked = 0;
  for (const at of starts) {
    const same = found.filter((row) => row.digest === digests[at]);
    const matches: Match[] = [];
    for (const { id } of same) {
      if (++looked > MOST_RECORDS) return undefined;
      const [row, record] = await Promise.all([requests.find(user, id), threads.turn(user, id)]);
      if (row === undefined || record === undefined) continue;
      const output = outputEntries(record, row.echo.tools);
      const follows =
        output.length > 0 && output.every((canon, index) => entries[at + index]?.canon === canon);
      if (follows) matches.push({ row, record, rest: items.slice(entries[at + output.length - 1]?.end) });
    }
    const [match] = matches;
    if (match === undefined) continue;
    if (!isCertain(matches, same.length)) return undefined;
    if (await isFree(user, match.record, threads)) return match;
  }
  return undefined;
}

/**
 * Many conversations begin alike, and an application may have them for many people: each thread holds what the others must
 * not see, such as what the agent's tools found. Calls have ids that no other conversation has; words have not.
 */
function isCertain(matches: readonly Match[], same: number): boolean {
  if (new Set(matches.map(({ record }) => record.thread)).size > 1) return false;
  return same < MOST_ALIKE || matches.some(({ record }) => pendingOf(record).size > 0);
}

/** A thread with a turn under way is not waited for. */
async function isFree(
  user: string,
  { thread }: TurnRecord,
  threads: Pick<Services["threads"], "turns">,
): Promise<boolean> {
  const { items } = await threads.turns(user, thread, { limit: 1 });
  return items.every(({ status }) => status !== "queued" && status !== "running");
}

const ENDED: ReadonlySet<TurnRecord["status"]> = new Set(["completed", "waiting"]);

function outputEntries(record: TurnRecord, tools: readonly WireTool[]): readonly string[] {
  if (!ENDED.has(record.status)) return [];
  return entriesOf(outputItems(record, tools)).map(({ canon }) => canon);
}

/** What a turn put out, as a caller sends it back. */
export function outputItems({ items, gate }: TurnRecord, tools: readonly WireTool[]): readonly GivenItem[] {
  const said = items.flatMap((item): readonly GivenItem[] =>
    item.type === "message" && item.role === "assistant" && item.text !== ""
      ? [{ type: "message", role: "assistant", text: item.text }]
      : [],
  );
  const calls = gate?.type === "external_tool" ? [gate.call, ...(gate.others ?? [])] : [];
  return [
    ...said,
    ...calls.map(({ id, name, params }): GivenItem => {
      const isCustom = calledTool(tools, name).type === "custom";
      const given = isCustom ? customParams(customInput(params)) : params;
      return { type: "function_call", call: id, name, params: given };
    }),
  ];
}

/** Whether all calls of that turn are answered; else it is no continuation of it. */
export function answersMatch({ record, rest }: Match): boolean {
  if (rest.length === 0 || (record.gate !== undefined && record.gate.type !== "external_tool")) return false;
  const answered = new Set(rest.flatMap((item) => (item.type === "function_call_output" ? [item.call] : [])));
  return [...pendingOf(record)].every((call) => answered.has(call));
}

/** The calls that a turn waits for. */
export function pendingOf(record: TurnRecord | undefined): ReadonlySet<string> {
  const gate = record?.gate;
  if (gate?.type !== "external_tool") return new Set();
  return new Set([gate.call.id, ...(gate.others ?? []).map(({ id }) => id)]);
}
