/** Takes a request: decides what it is about, starts its turn and writes both down in one step, or neither. */
import { createHash, randomUUIDv7 } from "node:crypto";
import {
  type Agent,
  Fault,
  type Gate,
  type RunningTurn,
  type Sql,
  type ThreadSummary,
  type Threads,
  type Transaction,
  type Turn,
  type User,
} from "../../../kernel/plugin.ts";
import { bytesOf } from "../../../kernel/vocabulary/schema/check.ts";
import { parseItemId, parseResponseId } from "../answer/id.ts";
import { outputOf } from "../answer/output.ts";
import { gateError, type PageOf } from "../answer/response.ts";
import type { WireError } from "../answer/wire.ts";
import { invalid } from "../refusal.ts";
import { offerTools } from "../tool-names.ts";
import { type Ask, readInput } from "./input.ts";
import { previousNotFound } from "./open/refusals.ts";
import type { CreateRequest } from "./request.ts";
import type { RepeatKey, Requests, TakenRequest } from "./requests.ts";

export interface IntakeParts {
  readonly agent: Agent;
  readonly threads: Threads;
  readonly requests: Requests;
  readonly sql: Sql;
  readonly pageOf: PageOf;
  /** Whether a client may replay a whole tool loop instead of resuming it. */
  readonly replay: boolean;
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
  /** What comes before the message is history that the thread does not have yet. */
  readonly bringsHistory: boolean;
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

export const CHANNEL = "responses";

const NOT_FOUND: WireError = {
  type: "not_found_error",
  code: "previous_response_not_found",
  message:
    '"previous_response_id" names no response of yours. Begin a new thread, or use the id of one that is there.',
};

/** Another request with the same key was first. */
class KeyTaken extends Error {}

/** What a message cannot go on from as if nothing were the matter. */
class NotPlain extends Error {}
const NOT_PLAIN: ReadonlySet<string> = new Set(["thread_not_found", "turn_not_found", "gate_pending"]);

export function createIntake({ agent, threads, requests, sql, pageOf, replay }: IntakeParts): Intake {
  const live = new Map<string, RunningTurn>();
  /** Requests with a key that are being taken here: another with the same key waits until its turn can be followed. */
  const taking = new Map<string, Promise<unknown>>();

  async function resolve(user: string, id: string) {
    const place = parseItemId(id);
    const record = place && (await requests.find(user, place.turn)) && (await threads.turn(user, place.turn));
    return record && outputOf(record, { isOpen: false, tools: [] })[place.index];
  }

  /** The thread to go on with; undefined where there is none, whoever's it may be. */
  async function previousThread(
    user: string,
    { previous }: CreateRequest,
  ): Promise<ThreadSummary | undefined> {
    if (previous === undefined) return undefined;
    const [earlier, thread] = await Promise.all([
      requests.find(user, previous.turn),
      threads.find(user, previous.thread),
    ]);
    return earlier?.thread === previous.thread ? thread : undefined;
  }

  /** The turn to go on from: a response that failed before it had one goes on from where its request did. */
  async function previousTurn(
    user: string,
    { previous }: Pick<CreateRequest, "previous">,
  ): Promise<string | undefined> {
    for (let at = previous; at !== undefined; ) {
      const [request, record] = await Promise.all([
        requests.find(user, at.turn),
        threads.turn(user, at.turn),
      ]);
      if (record?.thread === previous?.thread) return record?.id;
      const earlier: string | null = request?.echo.previousResponseId ?? null;
      at = earlier === null ? undefined : parseResponseId(earlier);
    }
    return undefined;
  }

  const parse = (user: string, { items }: CreateRequest, continues: boolean) =>
    readInput(items, { continues, replay, resolve: (id) => resolve(user, id) });

  /**
   * A message on a thread that is there and waits for nothing: what it goes on from is looked at in the step that opens its
   * turn. Undefined where it is not that simple.
   */
  async function goOn(sender: User, request: CreateRequest): Promise<Begun | undefined> {
    const user = sender.id;
    const { previous, echo } = request;
    const { ask, items } = await parse(user, request, true);
    if (previous === undefined || ask.type !== "message") return undefined;
    const takenAs = (turn: Pick<TakenRequest, "id" | "thread">): TakenRequest => {
      const createdAt = new Date().toISOString();
      return { ...turn, user, createdAt, echo, input: items };
    };
    let taken: TakenRequest | undefined;
    try {
      const turn = turnOf(sender, request, ask, { thread: previous.thread, after: previous.turn });
      const running = await agent.run(turn, async (tx, { id, thread, gate }) => {
        taken = takenAs({ id, thread });
        const [earlier, waitsFor] = await Promise.all([
          requests.find(user, previous.turn, tx),
          gate,
          requests.add(tx, taken, undefined),
        ]);
        if (earlier?.thread !== previous.thread || waitsFor !== undefined) throw new NotPlain();
      });
      keep(running);
      return { taken: taken ?? takenAs(running), running };
    } catch (error) {
      if (error instanceof NotPlain || (error instanceof Fault && NOT_PLAIN.has(error.code)))
        return undefined;
      throw error;
    }
  }

  const findThread = async (user: string, thread: string | undefined) =>
    thread === undefined ? undefined : await threads.find(user, thread);

  async function begin(
    sender: User,
    request: CreateRequest,
    repeat: RepeatKey | undefined,
    place: ConversationPlace | undefined,
  ): Promise<Begun> {
    const user = sender.id;
    const isPlain = request.previous !== undefined && repeat === undefined && place === undefined;
    const begun = isPlain ? await goOn(sender, request) : undefined;
    if (begun) return begun;
    const continues = request.previous !== undefined || place?.thread !== undefined;
    const [known, thread, after] = await Promise.all([
      repeat && repeated(user, repeat),
      place ? findThread(user, place.thread) : previousThread(user, request),
      place ? place.after : previousTurn(user, request),
    ]);
    if (known) return { taken: known, running: live.get(known.id) };
    if (continues && thread === undefined && request.door === "open") throw previousNotFound();
    const input = await parse(user, request, continues && !place?.bringsHistory);
    const gate = thread?.gate;
    const failure =
      continues && thread === undefined ? NOT_FOUND : gate && refuseGate(gate, input.ask, pageOf);
    if (input.ask.type === "resume" && failure === undefined) refuseResume(gate, input.ask);
    const echo = await echoOf(user, request, input.ask, gate);
    const takenAs = ({ id, thread }: { readonly id: string; readonly thread: string }): TakenRequest => {
      const createdAt = new Date().toISOString();
      return { id, user, thread, createdAt, echo, input: input.items, error: failure };
    };
    /** Both the turn and the request are written, or neither. */
    const add = async (tx: Transaction, taken: TakenRequest): Promise<TakenRequest> => {
      const added = requests.add(tx, taken, repeat);
      // Without a key there is nothing to wait for: where it fails, so does the transaction.
      if (repeat === undefined) added.catch(() => {});
      else if (!(await added)) throw new KeyTaken();
      await place?.claim(tx, taken);
      return taken;
    };
    if (failure) {
      const place = { id: randomUUIDv7(), thread: request.previous?.thread ?? randomUUIDv7() };
      return { taken: await sql.transaction((tx) => add(tx, takenAs(place))), running: undefined };
    }
    let taken: TakenRequest | undefined;
    const turn = turnOf(sender, request, input.ask, thread && { thread: thread.id, after });
    const running = await agent.run(turn, async (tx, turn) => {
      taken = await add(tx, takenAs(turn));
    });
    keep(running);
    return { taken: taken ?? takenAs(running), running };
  }

  /** The agent goes on with the thread's catalog where a resume does not repeat it, and so does the answer. */
  async function echoOf(
    user: string,
    { echo, tools }: CreateRequest,
    ask: Ask,
    gate: Gate | undefined,
  ): Promise<TakenRequest["echo"]> {
    if (ask.type !== "resume" || tools !== undefined || gate === undefined) return echo;
    const inherited = await requests.find(user, gate.turn);
    return inherited ? { ...echo, tools: inherited.echo.tools } : echo;
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
    if (repeat === undefined) return await begin(user, request, repeat, place);
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

/** Where a request goes on: the thread, and the turn of it. */
interface Place {
  readonly thread: string;
  readonly after: string | undefined;
}

function turnOf(user: User, request: CreateRequest, ask: Ask, place: Place | undefined): Turn {
  const { tools, settings } = request;
  const said = ask.type === "message" ? ask.instructions : [];
  const instructions = [request.instructions ?? "", ...said].filter((text) => text !== "").join("\n\n");
  const history = ask.type === "message" ? ask.history : [];
  // A replay that ends with a call's output has no message for the instructions to stand before.
  const standsAlone = instructions !== "" && ask.type === "message" && ask.text === "";
  const system = { type: "message", id: "", role: "system", text: instructions } as const;
  const brought = standsAlone ? [system, ...history] : history;
  return {
    user: user.id,
    channel: CHANNEL,
    input: inputOf(ask),
    ...settings,
    // Followed by a stream, perhaps by a second one that goes on where the first broke off.
    ...((request.stream || request.background) && { keepsPieces: true }),
    ...(user.scope && { scope: user.scope }),
    ...(place && { thread: place.thread }),
    // An output answers what the thread waits for now, and only once.
    ...(place?.after !== undefined && ask.type === "message" && { after: place.after }),
    ...(instructions !== "" && !standsAlone && { instructions }),
    ...(tools !== undefined && { tools: offerTools(tools).map(({ offer }) => offer) }),
    ...(brought.length > 0 && { history: brought, isReplay: true }),
  };
}

function inputOf(ask: Ask): Turn["input"] {
  if (ask.type === "message") return { type: "message", text: ask.text };
  const [{ call, output }] = ask.outputs as [Extract<Ask, { type: "resume" }>["outputs"][0]];
  return { type: "tool_output", call, output };
}

/** A gate of another kind fails the turn that would go on beside it; a pending call refuses it. */
function refuseGate(gate: Gate, ask: Ask, pageOf: PageOf): WireError | undefined {
  if (ask.type === "resume") return undefined;
  if (gate.type !== "external_tool") return gateError(gate, pageOf);
  throw invalid(
    "input",
    "tool_output_expected",
    `The thread is waiting for the output of call "${gate.call.id}". Send it as a function_call_output item first, then the message in a new request.`,
  );
}

function refuseResume(gate: Gate | undefined, { outputs }: Extract<Ask, { type: "resume" }>): void {
  if (gate?.type !== "external_tool") {
    const instead = gate
      ? ` It is waiting for something else (${gate.type}), which must be resolved first.`
      : "";
    throw invalid("input", "no_pending_call", `The thread has no pending function call.${instead}`);
  }
  const other = outputs.findIndex(({ call }, index) => call !== gate.call.id || index > 0);
  if (other === -1) return;
  throw invalid(
    `input[${other}].call_id`,
    "call_id_mismatch",
    `"input[${other}].call_id" does not match: the pending function call is "${gate.call.id}".`,
  );
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
