/** What earlier requests left for one that goes on from them: the items it names, their thread and turn, and their tools. */
import type { Gate, Services, ThreadSummary, TurnRecord } from "../../../../kernel/plugin.ts";
import { parseItemId, parseResponseId, type ResponseId } from "../../answer/id.ts";
import type { Places } from "../../answer/place.ts";
import type { Echo } from "../../answer/response.ts";
import type { Seals } from "../../seal.ts";
import { type Ask, resolveItems } from "../input.ts";
import type { GivenItem } from "../items.ts";
import { previousNotFinished } from "../open/refusals.ts";
import { outputItems } from "../replay/match.ts";
import type { CreateRequest } from "../request.ts";
import { isBackground, type Requests, type TakenRequest } from "../requests.ts";

export interface EarlierParts {
  readonly threads: Services["threads"];
  readonly requests: Requests;
  readonly places: Places;
  /** What this user was given to keep; undefined where it does not open. */
  readonly unseal: Seals["unseal"];
}

export interface EarlierPlace {
  readonly thread: ThreadSummary;
  /** The turn to go on from. */
  readonly record: TurnRecord | undefined;
}

export interface Earlier {
  /** The items of a request, with those that it names in place of their names. */
  given(user: string, request: CreateRequest): Promise<readonly GivenItem[]>;
  /** The thread to go on with; undefined where there is none, whoever's it may be. */
  previousPlace(user: string, previous: ResponseId): Promise<EarlierPlace | undefined>;
  /** The agent goes on with the thread's catalog where a resume does not repeat it, and so does the answer. */
  echoOf(user: string, request: CreateRequest, ask: Ask, gate: Gate | undefined): Promise<Echo>;
}

export function createEarlier({ threads, requests, places, unseal }: EarlierParts): Earlier {
  async function resolve(user: string, id: string): Promise<GivenItem | undefined> {
    const place = parseItemId(id);
    if (place === undefined) return undefined;
    const row = await requests.find(user, place.turn);
    const { turn } = row ? await places.find(row) : { turn: undefined };
    const record = turn === undefined ? undefined : await threads.turn(user, turn);
    return row && record && outputItems(record, row.echo.tools)[place.index];
  }

  const given = (user: string, { items }: CreateRequest) =>
    resolveItems(items, {
      resolve: (id) => resolve(user, id),
      unseal: (kind, sealed) => unseal(user, kind, sealed),
    });

  /** The turn to go on from: a response that failed before it had one goes on from where its request did. */
  async function previousRecord(user: string, previous: ResponseId): Promise<TurnRecord | undefined> {
    for (let at: ResponseId | undefined = previous; at !== undefined; ) {
      const [request, record]: [Awaited<ReturnType<Requests["find"]>>, TurnRecord | undefined] =
        await Promise.all([requests.find(user, at.turn), threads.turn(user, at.turn)]);
      if (record?.thread === previous.thread) return record;
      const earlier: string | null = request?.echo.previousResponseId ?? null;
      at = earlier === null ? undefined : parseResponseId(earlier);
    }
    return undefined;
  }

  async function previousPlace(user: string, previous: ResponseId): Promise<EarlierPlace | undefined> {
    const [earlier, thread, record] = await Promise.all([
      requests.find(user, previous.turn),
      threads.find(user, previous.thread),
      previousRecord(user, previous),
    ]);
    if (earlier && isBackground(earlier)) return await backgroundPlace(user, earlier);
    return earlier?.thread === previous.thread && thread !== undefined ? { thread, record } : undefined;
  }

  /** A job has a thread of its own, and an answer when it has ended. */
  async function backgroundPlace(user: string, earlier: TakenRequest) {
    const place = await places.find(earlier);
    const [thread, record] = await Promise.all([
      threads.find(user, place.thread),
      place.turn === undefined ? undefined : threads.turn(user, place.turn),
    ]);
    if (place.job !== undefined && place.job.status !== "completed") throw previousNotFinished();
    return thread && record && { thread, record };
  }

  async function echoOf(
    user: string,
    { echo, tools }: CreateRequest,
    ask: Ask,
    gate: Gate | undefined,
  ): Promise<Echo> {
    if (ask.outputs.length === 0 || tools !== undefined || gate === undefined) return echo;
    const inherited = await requests.find(user, gate.turn);
    return inherited ? { ...echo, tools: inherited.echo.tools } : echo;
  }

  return { given, previousPlace, echoOf };
}
