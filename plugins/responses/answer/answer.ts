/** How a taken request is answered: whole when its turn has ended, or event by event while it runs. */
import type { ServerResponse } from "node:http";
import type { Agent, Log, Threads, TurnRecord } from "../../../kernel/plugin.ts";
import type { Begun } from "../intake/intake.ts";
import type { Requests, TakenRequest } from "../intake/requests.ts";
import { refusalOf } from "../refusal.ts";
import { turnEnd } from "./ending.ts";
import { inSeconds, type PageOf, respond, respondWith } from "./response.ts";
import { createSequence } from "./sequence.ts";
import { openEventStream } from "./sse.ts";
import type { ResponseObject, StreamEvent, WireError } from "./wire.ts";

export interface AnswerParts {
  readonly agent: Agent;
  readonly threads: Threads;
  readonly requests: Requests;
  readonly log: Log;
  readonly pageOf: PageOf;
  readonly timeoutSecs: number;
}

/** How a request ended: `error` where there is no record, and where it overrules the record. */
export type Settled =
  | { readonly record: TurnRecord; readonly error: WireError | undefined }
  | { readonly record: undefined; readonly error: WireError };

export interface Answers {
  /** The response as it now is; undefined where its turn has gone with its thread. */
  current(taken: TakenRequest, model: string): Promise<ResponseObject | undefined>;
  /** When its turn has ended, wherever it runs. */
  ended(taken: TakenRequest): Promise<unknown>;
  /** When its turn has ended, or has been cut because it took too long. */
  settled(begun: Begun): Promise<Settled>;
  /** The response of a request that is settled. */
  whole(begun: Begun, model: string): Promise<ResponseObject>;
  /** Ends when the turn or the reader does; the turn does not care about the reader. */
  stream(begun: Begun, model: string, response: ServerResponse): Promise<void>;
}

export function createAnswers({ agent, threads, requests, log, pageOf, timeoutSecs }: AnswerParts): Answers {
  const timeout: WireError = {
    type: "server_error",
    code: "turn_timeout",
    message: `The turn took longer than ${timeoutSecs} s and was cut. Send long work with "stream": true, which has no such limit.`,
  };

  const ended = (taken: TakenRequest, record: TurnRecord, model: string): ResponseObject =>
    respondWith(record, model, taken.echo, pageOf, taken.error);

  async function current(taken: TakenRequest, model: string): Promise<ResponseObject | undefined> {
    const record = await threads.turn(taken.user, taken.id);
    if (record) return ended(taken, record, model);
    return taken.error && failed(taken, model, taken.error);
  }

  const turns = { agent, threads };

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

  async function* eventsOf({ taken, running }: Begun, model: string): AsyncGenerator<StreamEvent> {
    const head = respond(idOf(taken), model, taken.echo, {
      status: "in_progress",
      createdAt: inSeconds(taken.createdAt),
    });
    const sequence = createSequence(taken.id, head, (record) => ended(taken, record, model));
    yield* sequence.open();
    if (running) {
      for await (const event of running) yield* sequence.next(event);
      return;
    }
    const record = await turnEnd(turns, taken);
    if (record) yield* sequence.replay(record);
    else yield { type: "response.failed", response: failed(taken, model, taken.error ?? GONE) };
  }

  return {
    current,
    ended: (taken) => turnEnd(turns, taken),

    settled,

    async whole(begun, model) {
      const { record, error } = await settled(begun);
      const taken = { ...begun.taken, error };
      return record ? ended(taken, record, model) : failed(taken, model, error);
    },

    async stream(begun, model, response) {
      const stream = openEventStream(response);
      let sequence = 0;
      const send = (event: StreamEvent) =>
        stream.send(JSON.stringify({ ...event, sequence_number: sequence++ }), event.type);
      try {
        for await (const event of eventsOf(begun, model)) if (!(await send(event))) break;
      } catch (error) {
        log.error({ error, response: begun.taken.id }, "a stream broke");
        const { message, type, code } = refusalOf(error, true).body.error;
        const broken = failed(begun.taken, model, { type, code, message });
        await send({ type: "response.failed", response: broken });
      } finally {
        stream.end();
      }
    },
  };
}

const GONE: WireError = {
  type: "not_found_error",
  code: "response_not_found",
  message: "The response is no longer there: its thread was deleted.",
};

const idOf = ({ id, thread }: TakenRequest) => ({ turn: id, thread });

function failed(taken: TakenRequest, model: string, error: WireError): ResponseObject {
  const at = inSeconds(taken.createdAt);
  return respond(idOf(taken), model, taken.echo, { status: "failed", createdAt: at, completedAt: at, error });
}
