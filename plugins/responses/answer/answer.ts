/** How a taken request is answered: whole when its turn has ended, or event by event while it runs. */
import type { ServerResponse } from "node:http";
import type { Failure, Log, Services, TurnRecord } from "../../../kernel/plugin.ts";
import type { Door } from "../doors.ts";
import type { Begun } from "../intake/intake.ts";
import { isBackground, type Requests, type TakenRequest } from "../intake/requests.ts";
import { refusalOf } from "../refusal.ts";
import type { Seals } from "../seal.ts";
import { turnEnd } from "./ending.ts";
import { type Followed, follow, type NumberedEvent } from "./follow.ts";
import type { View } from "./output.ts";
import type { Places } from "./place.ts";
import { inSeconds, type PageOf, respond, respondWith } from "./response.ts";
import { createSequence } from "./sequence.ts";
import { openEventStream } from "./sse.ts";
import type { ResponseObject, WireError } from "./wire.ts";

export interface AnswerParts {
  readonly agent: Services["agent"];
  readonly threads: Services["threads"];
  readonly requests: Requests;
  readonly places: Places;
  readonly log: Log;
  readonly pageOf: PageOf;
  readonly timeoutSecs: number;
  /** What only we can read again, and only for this user. */
  readonly seal: Seals["seal"];
}

/** How the caller wants it: through which door, and under which name of the model. */
export interface Wanted {
  readonly door: Door["name"];
  readonly model: string;
}

/** How a request ended: `error` where there is no record, and where it overrules the record. */
export type Settled =
  | { readonly record: TurnRecord; readonly error: WireError | undefined }
  | { readonly record: undefined; readonly error: WireError };

export interface Answers {
  /** The response as it now is; undefined where its turn has gone with its thread. */
  current(taken: TakenRequest, wanted: Wanted): Promise<ResponseObject | undefined>;
  /** When its turn has ended, wherever it runs. */
  ended(taken: TakenRequest): Promise<TurnRecord | undefined>;
  /** When its turn has ended, or has been cut because it took too long. */
  settled(begun: Begun): Promise<Settled>;
  /** The response of a request that is settled. */
  whole(begun: Begun, wanted: Wanted): Promise<ResponseObject>;
  /** The events of its stream, from the one after this number on. The turn does not care who listens. */
  events(begun: Begun, wanted: Wanted, after?: number): AsyncIterable<NumberedEvent>;
  /** Sends them; ends when the turn or the reader does. */
  stream(begun: Begun, wanted: Wanted, response: ServerResponse, after?: number): Promise<void>;
}

export function createAnswers(parts: AnswerParts): Answers {
  const { agent, threads, requests, places, log, pageOf, timeoutSecs, seal } = parts;
  const turns = { agent, threads };
  const timeout: WireError = {
    type: "server_error",
    code: "turn_timeout",
    message: `The turn took longer than ${timeoutSecs} s and was cut. Send long work with "stream": true, which has no such limit.`,
  };

  const viewOf = ({ user, echo }: TakenRequest, { door }: Wanted): View => ({
    isOpen: door === "open",
    tools: echo.tools,
    ...(echo.sealsReasoning && { seal: (text: string) => seal(user, "reasoning", text) }),
  });

  /** Under the name of the response, whichever turn it is. */
  const ended = (taken: TakenRequest, turn: TurnRecord, wanted: Wanted): ResponseObject => {
    const record = { ...turn, id: taken.id, thread: taken.thread };
    return respondWith(record, wanted.model, taken.echo, viewOf(taken, wanted), pageOf, taken.error);
  };

  function failed(taken: TakenRequest, { door, model }: Wanted, error: WireError): ResponseObject {
    const at = inSeconds(taken.createdAt);
    const progress = { status: "failed", createdAt: at, completedAt: at, error } as const;
    return respond(idOf(taken), model, taken.echo, door === "open", progress);
  }

  function waiting(taken: TakenRequest, { door, model }: Wanted): ResponseObject {
    const status = isBackground(taken) ? "queued" : "in_progress";
    const progress = { status, createdAt: inSeconds(taken.createdAt) } as const;
    return respond(idOf(taken), model, taken.echo, door === "open", progress);
  }

  async function current(taken: TakenRequest, wanted: Wanted): Promise<ResponseObject | undefined> {
    const { turn, job } = await places.find(taken);
    const record = turn === undefined ? undefined : await threads.turn(taken.user, turn);
    if (record) return ended(taken, record, wanted);
    if (taken.error) return failed(taken, wanted, taken.error);
    if (job === undefined) return undefined;
    return job.error ? unbegun(taken, job.error, wanted) : waiting(taken, wanted);
  }

  /** A job that ended before it had a turn. */
  function unbegun(taken: TakenRequest, error: Failure, wanted: Wanted): ResponseObject {
    if (error.code !== "cancelled") return failed(taken, wanted, { type: "server_error", ...error });
    const at = inSeconds(taken.createdAt);
    const progress = { status: "cancelled", createdAt: at, completedAt: at } as const;
    return respond(idOf(taken), wanted.model, taken.echo, wanted.door === "open", progress);
  }

  async function cut(end: Promise<TurnRecord | undefined>, { user, id }: TakenRequest): Promise<Settled> {
    await agent.cancel(user, id);
    const record = await end;
    if (record === undefined) return { record, error: GONE };
    // A turn that came to its end in the meantime has an answer, which is better than none.
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

  function events({ taken, running }: Begun, wanted: Wanted, after?: number): AsyncIterable<NumberedEvent> {
    const { user, id } = taken;
    const head = waiting(taken, wanted);
    const followed: Followed = {
      async begun() {
        if (running) return { user, id: running.id, running };
        const { turn } = await places.begun(taken);
        return turn === undefined ? undefined : { user, id: turn, running: agent.running(user, turn) };
      },
      sequence: () =>
        createSequence(id, head, viewOf(taken, wanted), (record) => ended(taken, record, wanted)),
      async gone() {
        const response = await current(taken, wanted);
        return response?.status === "cancelled"
          ? { type: "response.incomplete", response }
          : { type: "response.failed", response: response ?? failed(taken, wanted, taken.error ?? GONE) };
      },
    };
    return follow(turns, followed, after);
  }

  return {
    current,
    async ended(taken) {
      const { turn } = await places.begun(taken);
      return turn === undefined ? undefined : await turnEnd(turns, { user: taken.user, id: turn });
    },
    events,

    settled,

    async whole(begun, wanted) {
      const { record, error } = await settled(begun);
      const taken = { ...begun.taken, error };
      return record ? ended(taken, record, wanted) : failed(taken, wanted, error);
    },

    async stream(begun, wanted, response, after) {
      const stream = openEventStream(response);
      let sent = after ?? -1;
      try {
        for await (const event of events(begun, wanted, after)) {
          sent = event.sequence_number;
          if (!(await stream.send(JSON.stringify(event), event.type))) break;
        }
      } catch (error) {
        log.error({ error, response: begun.taken.id }, "a stream broke");
        const { message, type, code } = refusalOf(error, true).body.error;
        const broken = failed(begun.taken, wanted, { type, code, message });
        const event = { type: "response.failed", response: broken, sequence_number: sent + 1 } as const;
        await stream.send(JSON.stringify(event), event.type);
      } finally {
        // Some clients wait for it; the specification's do not know it.
        if (wanted.door === "open") await stream.send("[DONE]");
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
