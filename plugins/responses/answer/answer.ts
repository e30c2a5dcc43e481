/** The response of a taken request: whole when its turn has ended, or event by event while it runs. */
import type { ServerResponse } from "node:http";
import type { Log, Services, TurnRecord } from "../../../kernel/plugin.ts";
import type { PageOf } from "../resolve/gate.ts";
import { isBackground, type Requests, type TakenRequest } from "../stored/requests.ts";
import type { Seals } from "../stored/seals.ts";
import type { TurnLocations } from "../stored/turn-location.ts";
import type { Begun } from "../turn/intake.ts";
import type { Dialect, ResponseObject, ResponseStatus, StreamEvent, WireError } from "../wire/format.ts";
import { refusalOf } from "../wire/refusal.ts";
import { runningElsewhere, turnEnd } from "./follow.ts";
import type { View } from "./output.ts";
import { inSeconds, respond, respondWith } from "./response.ts";
import { createSequence } from "./sequence.ts";
import { openEventStream } from "./sse.ts";

type NumberedEvent = StreamEvent & { readonly sequence_number: number };

interface AnswerParts extends Pick<Services, "agent" | "threads"> {
  readonly requests: Requests;
  readonly locations: TurnLocations;
  readonly log: Log;
  readonly pageOf: PageOf;
  readonly timeoutSecs: number;
  readonly seal: Seals["seal"];
}

export interface Rendering {
  readonly dialect: Dialect;
  readonly model: string;
}

/** How a request ended. `error` is set when there is no record, or when it overrules the record. */
export type Settled =
  | { readonly record: TurnRecord; readonly error: WireError | undefined }
  | { readonly record: undefined; readonly error: WireError };

export type Answers = ReturnType<typeof createAnswers>;

export function createAnswers(parts: AnswerParts) {
  const { agent, threads, requests, locations, log, pageOf, timeoutSecs, seal } = parts;
  const turns = { agent, threads };
  const timeout: WireError = {
    type: "server_error",
    code: "turn_timeout",
    message: `The turn took longer than ${timeoutSecs} s and was cut. Send long work with "stream": true, which has no such limit.`,
  };

  const viewOf = ({ user, echo }: TakenRequest, { dialect }: Rendering): View => ({
    isOpen: dialect === "open",
    tools: echo.tools,
    seal: echo.sealsReasoning ? (text) => seal(user, "reasoning", text) : undefined,
  });

  /** The ids on the wire are the response's, whichever turn it is. */
  const ended = (taken: TakenRequest, turn: TurnRecord, rendering: Rendering): ResponseObject => {
    const record = { ...turn, id: taken.id, thread: taken.thread };
    return respondWith(record, rendering.model, taken.echo, viewOf(taken, rendering), pageOf, taken.error);
  };

  function bare(taken: TakenRequest, rendering: Rendering, status: ResponseStatus, error?: WireError) {
    const createdAt = inSeconds(taken.createdAt);
    const completedAt = status === "failed" || status === "cancelled" ? createdAt : null;
    const progress = { status, createdAt, completedAt, error };
    const id = { turn: taken.id, thread: taken.thread };
    return respond(id, rendering.model, taken.echo, rendering.dialect === "open", progress);
  }

  const failed = (taken: TakenRequest, rendering: Rendering, error: WireError): ResponseObject =>
    bare(taken, rendering, "failed", error);

  const waiting = (taken: TakenRequest, rendering: Rendering): ResponseObject =>
    bare(taken, rendering, isBackground(taken) ? "queued" : "in_progress");

  /** The response as it is now; undefined when its turn was deleted with its thread. */
  async function current(taken: TakenRequest, rendering: Rendering): Promise<ResponseObject | undefined> {
    const { turn, job } = await locations.find(taken);
    const record = turn === undefined ? undefined : await threads.turn(taken.user, turn);
    if (record) return ended(taken, record, rendering);
    if (taken.error) return failed(taken, rendering, taken.error);
    if (job === undefined) return undefined;
    if (job.error === undefined) return waiting(taken, rendering);
    if (job.error.code === "cancelled") return bare(taken, rendering, "cancelled");
    return failed(taken, rendering, { type: "server_error", ...job.error });
  }

  async function cut(end: Promise<TurnRecord | undefined>, { user, id }: TakenRequest): Promise<Settled> {
    await agent.cancel(user, id);
    const record = await end;
    if (record === undefined) return { record, error: GONE };
    // A turn that ended in the meantime has an answer, which is better than none.
    if (record.status !== "cancelled") return { record, error: undefined };
    await requests.setError(id, timeout);
    return { record, error: timeout };
  }

  /** Resolves when its turn has ended, or was cut because it took too long. */
  async function settled({ taken, running }: Begun): Promise<Settled> {
    const late = Promise.withResolvers<"late">();
    const timer = setTimeout(() => late.resolve("late"), timeoutSecs * 1000);
    const end = running?.record ?? turnEnd(turns, taken);
    const record = await Promise.race([end, late.promise]).finally(() => clearTimeout(timer));
    if (record === "late") return cut(end, taken);
    return record ? { record, error: taken.error } : { record, error: taken.error ?? GONE };
  }

  /**
   * The events of its stream after this number. The last one is always sent, so that every reader learns how the turn ended. A turn
   * that keeps its pieces has the same numbers whenever it is followed, and runs on when nobody reads them.
   */
  async function* events(
    { taken, running }: Begun,
    rendering: Rendering,
    after = -1,
    notice: (message: string) => void = () => {},
  ): AsyncGenerator<NumberedEvent, void> {
    const { user, id } = taken;
    const head = waiting(taken, rendering);
    // A fresh sequence makes the same events again, from the first one.
    const newSequence = () =>
      createSequence(id, head, viewOf(taken, rendering), (record) => ended(taken, record, rendering));
    let told = after;
    let next = 0;
    function* number(some: readonly StreamEvent[], hasLast = false): Generator<NumberedEvent> {
      for (const event of some) {
        const isLast = hasLast && event === some.at(-1);
        const sequence_number = isLast ? Math.max(next, told + 1) : next;
        next += 1;
        if (sequence_number <= told) continue;
        told = sequence_number;
        yield { ...event, sequence_number };
      }
    }

    const sequence = newSequence();
    yield* number(sequence.open());
    const turn = running?.id ?? (await locations.begun(taken)).turn;
    if (turn !== undefined) {
      yield* number(sequence.begin());
      const live = running ?? agent.running(user, turn) ?? runningElsewhere(turns, { user, id: turn });
      for await (const event of live) {
        if (event.type === "notice") notice(event.message);
        const isEnd = "record" in event;
        yield* number(sequence.next(event), isEnd);
        if (isEnd) return;
      }
    }
    // The live events have ended early, or were incomplete: the stored turn has all of them.
    const record = turn === undefined ? undefined : await turnEnd(turns, { user, id: turn });
    const again = newSequence();
    const rest = record ? [...again.begin(), ...again.replay(record)] : [await lastEvent(taken, rendering)];
    next = 0;
    yield* number([...again.open(), ...rest], true);
  }

  /** The last event when there is no such turn, or no longer. */
  async function lastEvent(taken: TakenRequest, rendering: Rendering): Promise<StreamEvent> {
    const response = await current(taken, rendering);
    return response?.status === "cancelled"
      ? { type: "response.incomplete", response }
      : { type: "response.failed", response: response ?? failed(taken, rendering, taken.error ?? GONE) };
  }

  return {
    current,
    /** Resolves when its turn has ended, wherever it runs. */
    async ended(taken: TakenRequest): Promise<TurnRecord | undefined> {
      const { turn } = await locations.begun(taken);
      return turn === undefined ? undefined : await turnEnd(turns, { user: taken.user, id: turn });
    },
    events,
    settled,
    async whole(begun: Begun, rendering: Rendering): Promise<ResponseObject> {
      const { record, error } = await settled(begun);
      const taken = { ...begun.taken, error };
      return record ? ended(taken, record, rendering) : failed(taken, rendering, error);
    },

    /** Sends the events as SSE; ends when the turn or the reader does. */
    async stream(
      begun: Begun,
      rendering: Rendering,
      response: ServerResponse,
      after?: number,
    ): Promise<void> {
      const stream = openEventStream(response);
      let sent = after ?? -1;
      try {
        for await (const event of events(begun, rendering, after, stream.comment)) {
          sent = event.sequence_number;
          if (!(await stream.send(JSON.stringify(event), event.type))) break;
        }
      } catch (error) {
        log.error({ error, response: begun.taken.id }, "a stream broke");
        const { message, type, code } = refusalOf(error, true).body.error;
        const broken = failed(begun.taken, rendering, { type, code, message });
        const event = { type: "response.failed", response: broken, sequence_number: sent + 1 } as const;
        await stream.send(JSON.stringify(event), event.type);
      } finally {
        // Some clients wait for it; the specification does not have it.
        if (rendering.dialect === "open") await stream.send("[DONE]");
        stream.end();
      }
    },
  };
}

export const GONE: WireError = {
  type: "not_found_error",
  code: "response_not_found",
  message: "The response is no longer there: its thread was deleted.",
};
