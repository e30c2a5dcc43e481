/** The response of a taken request: whole when its turn has ended, or event by event while it runs. */
import type { ServerResponse } from "node:http";
import type { Agent, Log, Threads, TurnRecord } from "../../../kernel/plugin.ts";
import type { PageOf } from "../resolve/gate.ts";
import { isBackground, type Requests, type TakenRequest } from "../stored/requests.ts";
import type { Seals } from "../stored/seals.ts";
import type { TurnLocations } from "../stored/turn-location.ts";
import type { Begun } from "../turn/intake.ts";
import type { Dialect } from "../wire/dialect.ts";
import type { ResponseObject, ResponseStatus, WireError } from "../wire/format.ts";
import { refusalOf } from "../wire/refusal.ts";
import { type Followed, follow, type NumberedEvent, turnEnd } from "./follow.ts";
import type { View } from "./output.ts";
import { inSeconds, respond, respondWith } from "./response.ts";
import { createSequence } from "./sequence.ts";
import { openEventStream } from "./sse.ts";

export interface AnswerParts {
  readonly agent: Agent;
  readonly threads: Threads;
  readonly requests: Requests;
  readonly locations: TurnLocations;
  readonly log: Log;
  readonly pageOf: PageOf;
  readonly timeoutSecs: number;
  readonly seal: Seals["seal"];
}

/** The form in which the caller gets a response. */
export interface Rendering {
  readonly dialect: Dialect;
  /** The name of the model that the response shows. */
  readonly model: string;
}

/** How a request ended. `error` is set when there is no record, or when it overrules the record. */
export type Settled =
  | { readonly record: TurnRecord; readonly error: WireError | undefined }
  | { readonly record: undefined; readonly error: WireError };

export interface Answers {
  /** The response as it is now; undefined when its turn was deleted with its thread. */
  current(taken: TakenRequest, rendering: Rendering): Promise<ResponseObject | undefined>;
  /** Resolves when its turn has ended, wherever it runs. */
  ended(taken: TakenRequest): Promise<TurnRecord | undefined>;
  /** Resolves when its turn has ended, or was cut because it took too long. */
  settled(begun: Begun): Promise<Settled>;
  whole(begun: Begun, rendering: Rendering): Promise<ResponseObject>;
  /** The events of its stream after this number. The turn runs on when nobody reads them. */
  events(begun: Begun, rendering: Rendering, after?: number): AsyncIterable<NumberedEvent>;
  /** Sends the events as SSE; ends when the turn or the reader does. */
  stream(begun: Begun, rendering: Rendering, response: ServerResponse, after?: number): Promise<void>;
}

export function createAnswers(parts: AnswerParts): Answers {
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

  /** A response that has no turn. */
  function bare(taken: TakenRequest, rendering: Rendering, status: ResponseStatus, error?: WireError) {
    const createdAt = inSeconds(taken.createdAt);
    const completedAt = status === "failed" || status === "cancelled" ? createdAt : null;
    const progress = { status, createdAt, completedAt, error };
    return respond(idOf(taken), rendering.model, taken.echo, rendering.dialect === "open", progress);
  }

  const failed = (taken: TakenRequest, rendering: Rendering, error: WireError): ResponseObject =>
    bare(taken, rendering, "failed", error);

  const waiting = (taken: TakenRequest, rendering: Rendering): ResponseObject =>
    bare(taken, rendering, isBackground(taken) ? "queued" : "in_progress");

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

  async function settled({ taken, running }: Begun): Promise<Settled> {
    const late = Promise.withResolvers<"late">();
    const timer = setTimeout(() => late.resolve("late"), timeoutSecs * 1000);
    const end = running?.record ?? turnEnd(turns, taken);
    const record = await Promise.race([end, late.promise]).finally(() => clearTimeout(timer));
    if (record === "late") return cut(end, taken);
    return record ? { record, error: taken.error } : { record, error: taken.error ?? GONE };
  }

  function events(
    { taken, running }: Begun,
    rendering: Rendering,
    after?: number,
  ): AsyncIterable<NumberedEvent> {
    const { user, id } = taken;
    const head = waiting(taken, rendering);
    const followed: Followed = {
      async begun() {
        if (running) return { user, id: running.id, running };
        const { turn } = await locations.begun(taken);
        return turn === undefined ? undefined : { user, id: turn, running: agent.running(user, turn) };
      },
      sequence: () =>
        createSequence(id, head, viewOf(taken, rendering), (record) => ended(taken, record, rendering)),
      async gone() {
        const response = await current(taken, rendering);
        return response?.status === "cancelled"
          ? { type: "response.incomplete", response }
          : { type: "response.failed", response: response ?? failed(taken, rendering, taken.error ?? GONE) };
      },
    };
    return follow(turns, followed, after);
  }

  return {
    current,
    async ended(taken) {
      const { turn } = await locations.begun(taken);
      return turn === undefined ? undefined : await turnEnd(turns, { user: taken.user, id: turn });
    },
    events,

    settled,

    async whole(begun, rendering) {
      const { record, error } = await settled(begun);
      const taken = { ...begun.taken, error };
      return record ? ended(taken, record, rendering) : failed(taken, rendering, error);
    },

    async stream(begun, rendering, response, after) {
      const stream = openEventStream(response);
      let sent = after ?? -1;
      try {
        for await (const event of events(begun, rendering, after)) {
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

const idOf = ({ id, thread }: TakenRequest) => ({ turn: id, thread });
