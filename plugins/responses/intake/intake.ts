/** Takes a request: decides what it is about, starts its turn and writes both down in one step, or neither. */
import { createHash, randomUUIDv7 } from "node:crypto";
import {
  type Agent,
  Fault,
  type Gate,
  type RunningTurn,
  type SyncSql,
  type ThreadSummary,
  type Threads,
  type Turn,
} from "../../../kernel/plugin.ts";
import { bytesOf } from "../../../kernel/vocabulary/schema/check.ts";
import { parseItemId } from "../answer/id.ts";
import { gateError, outputOf, type PageOf } from "../answer/response.ts";
import type { WireError } from "../answer/wire.ts";
import { invalid } from "../refusal.ts";
import { type Ask, type Input, parseInput } from "./input.ts";
import { type CreateRequest, externalTool } from "./request.ts";
import type { RepeatKey, Requests, TakenRequest } from "./requests.ts";

export interface IntakeParts {
  readonly agent: Agent;
  readonly threads: Threads;
  readonly requests: Requests;
  readonly sql: SyncSql;
  readonly pageOf: PageOf;
  /** Whether a client may replay a whole tool loop instead of resuming it. */
  readonly replay: boolean;
}

/** A request that was taken, and its turn where one is under way. */
export interface Begun {
  readonly taken: TakenRequest;
  readonly running: RunningTurn | undefined;
}

export interface Intake {
  take(user: string, request: CreateRequest, repeat: RepeatKey | undefined): Promise<Begun>;
  /** The turn of that response, while it runs. */
  running(id: string): RunningTurn | undefined;
}

export const CHANNEL = "responses";

const NOT_FOUND: WireError = {
  type: "not_found_error",
  code: "previous_response_not_found",
  message:
    '"previous_response_id" names no response of yours. Begin a new thread, or use the id of one that is there.',
};

export function createIntake({ agent, threads, requests, sql, pageOf, replay }: IntakeParts): Intake {
  const live = new Map<string, RunningTurn>();

  function resolve(user: string, id: string) {
    const place = parseItemId(id);
    const record = place && requests.find(user, place.turn) && threads.turn(user, place.turn);
    return record && outputOf(record)[place.index];
  }

  /** The thread to go on with; undefined where there is none, whoever's it may be. */
  function previousThread(user: string, { previous }: CreateRequest): ThreadSummary | undefined {
    if (previous === undefined) return undefined;
    const earlier = requests.find(user, previous.turn);
    return earlier?.thread === previous.thread ? threads.find(user, previous.thread) : undefined;
  }

  /** `run` starts a turn; what it did is undone by whoever lent it, should the rest fail. */
  function begin(
    user: string,
    request: CreateRequest,
    repeat: RepeatKey | undefined,
    run: (turn: Turn) => RunningTurn,
  ): Begun {
    const known = repeat && repeated(user, repeat);
    if (known) return { taken: known, running: live.get(known.id) };
    const continues = request.previous !== undefined;
    const input = parseInput(request.input, { continues, replay, resolve: (id) => resolve(user, id) });
    const thread = previousThread(user, request);
    const gate = thread?.gate;
    const failure =
      continues && thread === undefined ? NOT_FOUND : gate && refuseGate(gate, input.ask, pageOf);
    if (input.ask.type === "resume" && failure === undefined) refuseResume(gate, input.ask);
    const running = failure ? undefined : run(turnOf(user, request, input.ask, thread?.id));
    const taken = takenOf(user, request, input, { running, failure, gate });
    requests.add(taken, repeat);
    return { taken, running };
  }

  function takenOf(
    user: string,
    { echo, previous, tools }: CreateRequest,
    { ask, items }: Input,
    outcome: {
      readonly running: RunningTurn | undefined;
      readonly failure: WireError | undefined;
      readonly gate: Gate | undefined;
    },
  ): TakenRequest {
    const { running, failure, gate } = outcome;
    // The agent goes on with the thread's catalog where a resume does not repeat it, and so does the answer.
    const inherited =
      ask.type === "resume" && tools === undefined && gate ? requests.find(user, gate.turn) : undefined;
    return {
      id: running?.id ?? randomUUIDv7(),
      user,
      thread: running?.thread ?? previous?.thread ?? randomUUIDv7(),
      createdAt: new Date().toISOString(),
      echo: inherited ? { ...echo, tools: inherited.echo.tools } : echo,
      input: items,
      error: failure,
    };
  }

  function repeated(user: string, { key, digest }: RepeatKey): TakenRequest | undefined {
    const first = requests.findRepeated(user, key);
    if (first === undefined || first.digest === digest) return first;
    throw invalid(
      "Idempotency-Key",
      "idempotency_key_reused",
      "This Idempotency-Key was used with a different body. Use a new key for each request.",
    );
  }

  return {
    async take(user, request, repeat) {
      let started: RunningTurn | undefined;
      const run = (turn: Turn): RunningTurn => {
        started = agent.run(turn);
        keep(started);
        return started;
      };
      try {
        return await sql.batch(() => begin(user, request, repeat, run));
      } catch (error) {
        // What could not be written down must not go on unseen.
        started?.cancel();
        throw error;
      }
    },
    running: (id) => live.get(id),
  };

  function keep(turn: RunningTurn): void {
    live.set(turn.id, turn);
    const forget = () => void live.delete(turn.id);
    turn.record.then(forget, forget);
  }
}

function turnOf(user: string, request: CreateRequest, ask: Ask, thread: string | undefined): Turn {
  const { context, temperature, tools, requiredTools } = request;
  const said = ask.type === "message" ? ask.instructions : [];
  const instructions = [request.instructions ?? "", ...said].filter((text) => text !== "").join("\n\n");
  const history = ask.type === "message" ? ask.history : [];
  // A replay that ends with a call's output has no message for the instructions to stand before.
  const standsAlone = instructions !== "" && ask.type === "message" && ask.text === "";
  const system = { type: "message", id: "", role: "system", text: instructions } as const;
  const brought = standsAlone ? [system, ...history] : history;
  return {
    user,
    channel: CHANNEL,
    input: inputOf(ask),
    ...(thread !== undefined && { thread }),
    ...(instructions !== "" && !standsAlone && { instructions }),
    ...(context !== undefined && { context }),
    ...(tools !== undefined && { tools: tools.map(externalTool) }),
    ...(requiredTools !== undefined && { requiredTools }),
    ...(brought.length > 0 && { history: brought }),
    ...(temperature !== undefined && { temperature }),
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
