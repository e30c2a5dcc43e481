/** Takes a parsed request: resolves it, starts its turn, and writes the turn and the request in one transaction. */

import { hash, randomUUIDv7 } from "node:crypto";
import { giveWay } from "../../../kernel/kit/concurrency.ts";
import { bytesOf } from "../../../kernel/kit/schema.ts";
import {
  Fault,
  type Gate,
  type Services,
  type Sql,
  type Transaction,
  type User,
} from "../../../kernel/plugin.ts";
import type { RunningTurn } from "../../agent/services.ts";
import type { CreateRequest } from "../parse/request.ts";
import type { ConversationPlace } from "../resolve/conversation.ts";
import { createResolver, type Resolved, type ResolverParts, resolvePlain } from "../resolve/resolve.ts";
import { type RepeatKey, type RequestTexts, type TakenRequest, textsOf } from "../stored/requests.ts";
import { invalid } from "../wire/refusal.ts";
import { jobOf, turnOf } from "./turn.ts";

interface IntakeParts extends ResolverParts, Pick<Services, "agent" | "jobs"> {
  readonly sql: Sql;
}

/** A request that was taken, and its turn when it runs on this node. */
export interface Begun {
  readonly taken: TakenRequest;
  readonly running: RunningTurn | undefined;
}

/** Another request with the same key was first. */
class KeyTaken extends Error {}

/** The previous response cannot be continued by a plain message. */
class NotPlain extends Error {}
const NOT_PLAIN: ReadonlySet<string> = new Set(["thread_not_found", "turn_not_found", "gate_pending"]);

/** The thread of a replay changed in the meantime: the replay begins another. */
const CHANGED: ReadonlySet<string> = new Set([
  ...NOT_PLAIN,
  "call_mismatch",
  "no_external_tool_gate",
  "thread_busy",
]);

const inputOf = ({ items }: Pick<Resolved, "items">): TakenRequest["input"] =>
  items.filter((item) => item.type !== "reasoning");

const isFault = (error: unknown, codes: ReadonlySet<string>): boolean =>
  error instanceof Fault && codes.has(error.code);

export type Intake = ReturnType<typeof createIntake>;

export function createIntake(parts: IntakeParts) {
  const { agent, jobs, requests, sql } = parts;
  const waysOf = createResolver(parts);
  const live = new Map<string, RunningTurn>();
  /** Keyed requests in progress: another with the same key waits until the turn of the first can be followed. */
  const taking = new Map<string, Promise<unknown>>();

  const takenAs = (
    { id: user, scope }: User,
    { echo, failure, goesOn, inputDigest, ...resolved }: Resolved,
    { id, thread }: { readonly id: string; readonly thread: string },
  ): TakenRequest => ({
    id,
    user,
    thread,
    createdAt: new Date().toISOString(),
    echo,
    input: inputOf(resolved),
    goesOn,
    inputDigest,
    error: failure,
    token: scope?.token,
  });

  /** Runs the turn here; `add` writes the request in the transaction that opens the turn. */
  async function open(
    user: User,
    request: CreateRequest,
    resolved: Resolved,
    texts: RequestTexts | undefined,
    add: (tx: Transaction, taken: TakenRequest, gate: Promise<Gate | undefined>) => Promise<void>,
  ): Promise<Begun> {
    let taken: TakenRequest | undefined;
    const running = await agent.run(turnOf(user, request, resolved), async (tx, { id, thread, gate }) => {
      taken = takenAs(user, resolved, { id, thread });
      // The turn has written the same text: others have their turn before it is written again, and before all of it is committed.
      await giveWay(texts?.length ?? 0);
      await add(tx, taken, gate);
      await giveWay(texts?.length ?? 0);
    });
    live.set(running.id, running);
    const forget = () => void live.delete(running.id);
    running.record.then(forget, forget);
    return { taken: taken ?? takenAs(user, resolved, running), running };
  }

  /** Both the turn and the request are written, or neither. */
  async function run(
    user: User,
    request: CreateRequest,
    resolved: Resolved,
    repeat: RepeatKey | undefined,
    place?: ConversationPlace,
  ): Promise<Begun> {
    const texts = request.store ? await textsOf(resolved.echo, inputOf(resolved)) : undefined;
    const add = async (tx: Transaction, taken: TakenRequest): Promise<void> => {
      if (texts === undefined) return;
      const added = requests.add(tx, taken, texts, repeat);
      // Without a key nothing has to wait for it: when it fails, so does the transaction.
      if (repeat === undefined) added.catch(() => {});
      else if (!(await added)) throw new KeyTaken();
      await place?.claim(tx, taken);
    };
    if (resolved.failure) {
      const thread = request.previous?.thread ?? randomUUIDv7();
      const taken = takenAs(user, resolved, { id: randomUUIDv7(), thread });
      if (request.store) await sql.transaction((tx) => add(tx, taken));
      return { taken, running: undefined };
    }
    if (request.background) {
      const turn = turnOf(user, request, resolved);
      // A job makes its thread when it begins; until then the conversation would have none to continue.
      if (place && turn.thread === undefined) {
        const message =
          "The first request of a conversation cannot run in the background. Send it without background, or without conversation.";
        throw invalid("background", "conversation_is_empty", message);
      }
      const job = { ...jobOf(turn), id: randomUUIDv7() };
      const queued = takenAs(user, resolved, { id: job.id, thread: turn.thread ?? randomUUIDv7() });
      await jobs.assertRoom(job);
      await sql.transaction(async (tx) => {
        await add(tx, queued);
        await jobs.submit(job, tx);
      });
      return { taken: queued, running: undefined };
    }
    return await open(user, request, resolved, texts, add);
  }

  /** A message on a thread that waits for nothing: the previous response is checked in the transaction that opens the turn. */
  async function takePlain(user: User, request: CreateRequest): Promise<Begun | undefined> {
    const { previous, items } = request;
    const isPlain = items.every(
      (item) => item.type === "message" && item.role !== "assistant" && !item.attachments?.length,
    );
    if (previous === undefined || !isPlain) return undefined;
    const resolved = resolvePlain(request, previous);
    const texts = await textsOf(resolved.echo, inputOf(resolved));
    try {
      return await open(user, request, resolved, texts, async (tx, taken, gate) => {
        requests.demand(tx, new NotPlain(), user.id, previous);
        requests.add(tx, taken, texts, undefined).catch(() => {});
        if ((await gate) !== undefined) throw new NotPlain();
      });
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
    const isPlain = request.store && repeat === undefined && !place && !request.background;
    const begun = isPlain ? await takePlain(user, request) : undefined;
    if (begun) return begun;
    const known = repeat && (await repeated(user.id, repeat));
    if (known) return { taken: known, running: live.get(known.id) };
    const ways = await waysOf(user.id, request, place);
    for (const [index, resolve] of ways.entries()) {
      try {
        return await run(user, request, await resolve(), repeat, place);
      } catch (error) {
        if (index === ways.length - 1 || !isFault(error, CHANGED)) throw error;
      }
    }
    throw new Error("a request has at least one way to be resolved");
  }

  async function repeated(user: string, { key, digest }: RepeatKey): Promise<TakenRequest | undefined> {
    const first = await requests.findRepeated(user, key);
    if (first === undefined || first.digest === digest) return first;
    const message = "This Idempotency-Key was used with a different body. Use a new key for each request.";
    throw invalid("Idempotency-Key", "idempotency_key_reused", message);
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
      // Another node was first: its request is stored by now.
      if (error instanceof KeyTaken) return await take(user, request, repeat, place);
      throw error;
    }
  }

  return { take };
}

const MAX_KEY_LENGTH = 255;

/** The `Idempotency-Key` header with a digest of the body, so that a key with another body is refused. */
export function repeatKeyOf(key: string, body: unknown): RepeatKey | undefined {
  if (key === "") return undefined;
  if (key.length > MAX_KEY_LENGTH) {
    const message = `Idempotency-Key must have at most ${MAX_KEY_LENGTH} characters.`;
    throw invalid("Idempotency-Key", "invalid_idempotency_key", message);
  }
  if (bytesOf(body) === undefined) throw new Fault("invalid", "body_too_deep", "The body nests too deeply.");
  return { key, digest: hash("sha256", JSON.stringify(body), "base64url") };
}
