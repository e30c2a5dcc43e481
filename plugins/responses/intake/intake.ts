/** Takes a request: decides what it is about, starts its turn and writes both down in one step, or neither. */
import { createHash, randomUUIDv7 } from "node:crypto";
import { bytesOf } from "../../../kernel/kit.ts";
import {
  Fault,
  type RunningTurn,
  type Services,
  type Sql,
  type Transaction,
  type User,
} from "../../../kernel/plugin.ts";
import { invalid } from "../refusal.ts";
import { createPreparation, type PreparationParts, type Prepared } from "./preparation.ts";
import type { CreateRequest } from "./request.ts";
import type { RepeatKey, TakenRequest } from "./requests.ts";
import { CHANNEL, jobOf, turnOf } from "./turn.ts";

export { CHANNEL };

export interface IntakeParts extends PreparationParts {
  readonly agent: Services["agent"];
  readonly jobs: Services["jobs"];
  readonly sql: Sql;
}

/** A request that was taken, and its turn where one is under way on this node. */
export interface Begun {
  readonly taken: TakenRequest;
  readonly running: RunningTurn | undefined;
}

/** The conversation that a request goes on with, in place of a response. */
export interface ConversationPlace {
  /** Undefined before its first response. */
  readonly thread: string | undefined;
  /** The newest turn of the thread. */
  readonly after: string | undefined;
  /** Makes the turn the conversation's, in the transaction that opens it. */
  claim(tx: Transaction, turn: { readonly id: string; readonly thread: string }): Promise<void>;
}

export interface Intake {
  take(
    user: User,
    request: CreateRequest,
    repeat: RepeatKey | undefined,
    place?: ConversationPlace,
  ): Promise<Begun>;
}

/** Another request with the same key was first. */
class KeyTaken extends Error {}

/** What a message cannot go on from as if nothing were the matter. */
class NotPlain extends Error {}
const NOT_PLAIN: ReadonlySet<string> = new Set(["thread_not_found", "turn_not_found", "gate_pending"]);

/** The thread of a replay changed in the meantime: it begins another. */
const CHANGED: ReadonlySet<string> = new Set([
  ...NOT_PLAIN,
  "call_mismatch",
  "no_external_tool_gate",
  "thread_busy",
]);

const isFault = (error: unknown, codes: ReadonlySet<string>): boolean =>
  error instanceof Fault && codes.has(error.code);

export function createIntake(parts: IntakeParts): Intake {
  const { agent, jobs, requests, sql } = parts;
  const preparation = createPreparation(parts);
  const live = new Map<string, RunningTurn>();
  /** Requests with a key that are being taken here: another with the same key waits until its turn can be followed. */
  const taking = new Map<string, Promise<unknown>>();

  const takenAs = (
    user: string,
    { echo, items, failure, goesOn, inputDigest }: Prepared,
    { id, thread }: { readonly id: string; readonly thread: string },
  ): TakenRequest => ({
    id,
    user,
    thread,
    createdAt: new Date().toISOString(),
    echo,
    // What the caller keeps for itself is not listed either.
    input: items.filter(({ type }) => type !== "reasoning"),
    goesOn,
    inputDigest,
    error: failure,
  });

  /** Both the turn and the request are written, or neither. */
  async function run(
    user: User,
    request: CreateRequest,
    prepared: Prepared,
    repeat: RepeatKey | undefined,
    place?: ConversationPlace,
  ): Promise<Begun> {
    const add = async (tx: Transaction, taken: TakenRequest): Promise<void> => {
      if (!request.store) return;
      const added = requests.add(tx, taken, repeat);
      // Without a key there is nothing to wait for: where it fails, so does the transaction.
      if (repeat === undefined) added.catch(() => {});
      else if (!(await added)) throw new KeyTaken();
      await place?.claim(tx, taken);
    };
    if (prepared.failure) {
      const thread = request.previous?.thread ?? randomUUIDv7();
      const taken = takenAs(user.id, prepared, { id: randomUUIDv7(), thread });
      if (request.store) await sql.transaction((tx) => add(tx, taken));
      return { taken, running: undefined };
    }
    const turn = turnOf(user, request, prepared);
    if (request.background) {
      // A job makes its thread when it begins; until then the conversation would have none to go on with.
      if (place && turn.thread === undefined)
        throw invalid(
          "background",
          "conversation_is_empty",
          "The first request of a conversation cannot run in the background. Send it without background, or without conversation.",
        );
      const job = { ...jobOf(turn), id: randomUUIDv7() };
      const queued = takenAs(user.id, prepared, { id: job.id, thread: turn.thread ?? randomUUIDv7() });
      await sql.transaction(async (tx) => {
        await add(tx, queued);
        await jobs.submit(job, tx);
      });
      return { taken: queued, running: undefined };
    }
    let taken: TakenRequest | undefined;
    const running = await agent.run(turn, async (tx, opened) => {
      taken = takenAs(user.id, prepared, opened);
      await add(tx, taken);
    });
    keep(running);
    return { taken: taken ?? takenAs(user.id, prepared, running), running };
  }

  /**
   * A message on a thread that is there and waits for nothing: what it goes on from is looked at in the step that opens its
   * turn. Undefined where it is not that simple.
   */
  async function goOnPlainly(user: User, request: CreateRequest): Promise<Begun | undefined> {
    const { previous, items } = request;
    const isPlain = items.every(
      (item) => item.type === "message" && item.role !== "assistant" && !item.attachments?.length,
    );
    if (previous === undefined || !isPlain) return undefined;
    const prepared = preparation.plain(request, previous);
    let taken: TakenRequest | undefined;
    try {
      const running = await agent.run(turnOf(user, request, prepared), async (tx, { id, thread, gate }) => {
        taken = takenAs(user.id, prepared, { id, thread });
        const [earlier, waitsFor] = await Promise.all([
          requests.find(user.id, previous.turn, tx),
          gate,
          requests.add(tx, taken, undefined),
        ]);
        if (earlier?.thread !== previous.thread || waitsFor !== undefined) throw new NotPlain();
      });
      keep(running);
      return { taken: taken ?? takenAs(user.id, prepared, running), running };
    } catch (error) {
      if (error instanceof NotPlain || isFault(error, NOT_PLAIN)) return undefined;
      throw error;
    }
  }

  async function begin(
    user: User,
    request: CreateRequest,
    repeat: RepeatKey | undefined,
    place: ConversationPlace | undefined,
  ): Promise<Begun> {
    const { previous, store, door } = request;
    if (!store) return await run(user, request, await preparation.copy(user.id, request), undefined);
    const isPlain = repeat === undefined && !place && !request.background;
    const begun = isPlain ? await goOnPlainly(user, request) : undefined;
    if (begun) return begun;
    const known = repeat && (await repeated(user.id, repeat));
    if (known) return { taken: known, running: live.get(known.id) };
    if (place)
      return await run(user, request, await preparation.join(user.id, request, place), repeat, place);
    if (previous !== undefined) {
      const prepare = door === "strict" ? preparation.resume : preparation.goOn;
      return await run(user, request, await prepare(user.id, request, previous), repeat);
    }
    const ways = await preparation.begin(user.id, request);
    for (const prepare of ways.slice(0, -1)) {
      try {
        return await run(user, request, await prepare(), repeat);
      } catch (error) {
        if (!isFault(error, CHANGED)) throw error;
      }
    }
    const prepare = ways.at(-1) as (typeof ways)[0];
    return await run(user, request, await prepare(), repeat);
  }

  async function repeated(user: string, { key, digest }: RepeatKey): Promise<TakenRequest | undefined> {
    const first = await requests.findRepeated(user, key);
    if (first === undefined || first.digest === digest) return first;
    throw invalid(
      "Idempotency-Key",
      "idempotency_key_reused",
      "This Idempotency-Key was used with a different body. Use a new key for each request.",
    );
  }

  async function take(
    user: User,
    request: CreateRequest,
    repeat: RepeatKey | undefined,
    place?: ConversationPlace,
  ): Promise<Begun> {
    if (repeat === undefined || !request.store) return await begin(user, request, undefined, place);
    const name = JSON.stringify([user.id, repeat.key]);
    for (let first = taking.get(name); first !== undefined; first = taking.get(name))
      await first.catch(() => {});
    const taken = begin(user, request, repeat, place).finally(() => taking.delete(name));
    taking.set(name, taken);
    try {
      return await taken;
    } catch (error) {
      // On another node: what it has written is there to be found now.
      if (error instanceof KeyTaken) return await take(user, request, repeat, place);
      throw error;
    }
  }

  return { take };

  function keep(turn: RunningTurn): void {
    live.set(turn.id, turn);
    const forget = () => void live.delete(turn.id);
    turn.record.then(forget, forget);
  }
}

const LONGEST_KEY = 255;

/** The `Idempotency-Key` header with a digest of the body, so that a reused key is found out. */
export function repeatKeyOf(key: string, body: unknown): RepeatKey | undefined {
  if (key === "") return undefined;
  if (key.length > LONGEST_KEY)
    throw invalid(
      "Idempotency-Key",
      "invalid_idempotency_key",
      `Idempotency-Key must have at most ${LONGEST_KEY} characters.`,
    );
  if (bytesOf(body) === undefined) throw new Fault("invalid", "body_too_deep", "The body nests too deeply.");
  return { key, digest: createHash("sha256").update(JSON.stringify(body)).digest("base64url") };
}
