/** Finds what a request takes from earlier ones: the items it names, the thread and turn to continue, and the tools. */
import type { ThreadSummary } from "../../../kernel/kit/turns.ts";
import { Fault, type Gate, type Services, type TurnRecord } from "../../../kernel/plugin.ts";
import type { GivenItem, InputItem, SealedKind } from "../parse/items.ts";
import type { CreateRequest, Echo } from "../parse/request.ts";
import { isBackground, type Requests, type TakenRequest } from "../stored/requests.ts";
import type { Seals } from "../stored/seals.ts";
import type { TurnLocations } from "../stored/turn-location.ts";
import { parseItemId, parseResponseId, type ResponseId } from "../wire/id.ts";
import { invalid } from "../wire/refusal.ts";
import type { Ask } from "./ask.ts";
import { outputItems } from "./history.ts";

// A reference is looked up and may stand for a long answer: a small request must not become a huge one.
const MAX_REFERENCES = 1000;
const MAX_REFERRED_LENGTH = 14 * 1024 * 1024;
const LOOKUPS_AT_ONCE = 16;

/** Resolves references, opens sealed texts and drops items that no turn can use. */
export async function resolveItems(
  given: readonly InputItem[],
  find: (id: string) => Promise<GivenItem | undefined>,
  unseal: (kind: SealedKind, sealed: string) => string | undefined,
): Promise<readonly GivenItem[]> {
  const items: GivenItem[] = [];
  let references = 0;
  let characters = 0;
  for (let from = 0; from < given.length; from += LOOKUPS_AT_ONCE) {
    const some = given.slice(from, from + LOOKUPS_AT_ONCE);
    const found = await Promise.all(
      some.map((item) => (item.type === "item_reference" ? find(item.id) : undefined)),
    );
    for (const [at, item] of some.entries()) {
      if (item.type === "skipped") continue;
      if (item.type === "sealed") {
        const text = unseal(item.holds, item.sealed);
        if (text !== undefined) items.push(unsealed(item.holds, text));
      } else if (item.type === "item_reference") {
        const said = found[at];
        characters += said === undefined ? 0 : JSON.stringify(said).length;
        if (++references > MAX_REFERENCES || characters > MAX_REFERRED_LENGTH) throw tooMany(from + at);
        if (said !== undefined) items.push(said);
      } else items.push(item);
    }
  }
  return items;
}

const unsealed = (holds: SealedKind, text: string): GivenItem =>
  holds === "reasoning"
    ? { type: "reasoning", text }
    : { type: "message", role: "user", text, isSummary: true };

const tooMany = (index: number) =>
  invalid(
    `input[${index}]`,
    "too_many_references",
    `"input[${index}]" is one reference too many: a request may have ${MAX_REFERENCES}, which stand for at most ${MAX_REFERRED_LENGTH} characters together.`,
  );

export interface PreviousParts {
  readonly threads: Services["threads"];
  readonly requests: Requests;
  readonly locations: TurnLocations;
  readonly unseal: Seals["unseal"];
}

export interface PreviousPlace {
  readonly thread: ThreadSummary;
  readonly record: TurnRecord | undefined;
}

export function createPrevious({ threads, requests, locations, unseal }: PreviousParts) {
  async function findItem(user: string, id: string): Promise<GivenItem | undefined> {
    const place = parseItemId(id);
    if (place === undefined) return undefined;
    const row = await requests.find(user, place.turn);
    const { turn } = row ? await locations.find(row) : { turn: undefined };
    const record = turn === undefined ? undefined : await threads.turn(user, turn);
    return row && record && outputItems(record, row.echo.tools)[place.index];
  }

  /** A response that failed before it had a turn continues from where its request did. */
  async function previousRecord(user: string, previous: ResponseId): Promise<TurnRecord | undefined> {
    for (let at: ResponseId | undefined = previous; at !== undefined; ) {
      const [request, record]: [TakenRequest | undefined, TurnRecord | undefined] = await Promise.all([
        requests.find(user, at.turn),
        threads.turn(user, at.turn),
      ]);
      if (record?.thread === previous.thread) return record;
      at = parseResponseId(request?.echo.previousResponseId ?? "");
    }
    return undefined;
  }

  /** A job has a thread of its own, and an answer when it has ended. */
  async function backgroundPlace(user: string, earlier: TakenRequest): Promise<PreviousPlace | undefined> {
    const { thread: id, turn, job } = await locations.find(earlier);
    const [thread, record] = await Promise.all([
      threads.find(user, id),
      turn === undefined ? undefined : threads.turn(user, turn),
    ]);
    if (job !== undefined && job.status !== "completed")
      throw new Fault(
        "invalid",
        "previous_response_not_finished",
        '"previous_response_id" names a background response that has not finished. Wait until its status is completed.',
        { param: "previous_response_id" },
      );
    return thread && record && { thread, record };
  }

  return {
    /** The items of a request, with the items that it refers to in place of the references. */
    itemsOf: (user: string, { items }: CreateRequest) =>
      resolveItems(
        items,
        (id) => findItem(user, id),
        (kind, sealed) => unseal(user, kind, sealed),
      ),

    /** The thread to continue; undefined when this user has none. */
    async placeOf(user: string, previous: ResponseId): Promise<PreviousPlace | undefined> {
      const [earlier, thread, record] = await Promise.all([
        requests.find(user, previous.turn),
        threads.find(user, previous.thread),
        previousRecord(user, previous),
      ]);
      if (earlier && isBackground(earlier)) return await backgroundPlace(user, earlier);
      return earlier?.thread === previous.thread && thread !== undefined ? { thread, record } : undefined;
    },

    /** The instructions that the thread had last, up to this turn. */
    async instructionsAt(user: string, turn: string): Promise<string | undefined> {
      for (let at: string | undefined = turn; at !== undefined; ) {
        const echo: Echo | undefined = (await requests.find(user, at))?.echo;
        if (echo?.instructions) return echo.instructions;
        at = parseResponseId(echo?.previousResponseId ?? "")?.turn;
      }
      return undefined;
    },

    /** A resume that does not repeat the tools continues with those of the thread, and the response echoes them. */
    async echoOf(user: string, request: CreateRequest, ask: Ask, gate: Gate | undefined): Promise<Echo> {
      const { echo, tools } = request;
      if (ask.outputs.length === 0 || tools !== undefined || gate === undefined) return echo;
      const inherited = await requests.find(user, gate.turn);
      return inherited ? { ...echo, tools: inherited.echo.tools } : echo;
    },
  };
}
