/** The chat completion of a taken request: whole when its turn has ended, or in chunks while it runs. */
import type { ServerResponse } from "node:http";
import type { ErrorEnvelope, HttpFault } from "../../../kernel/kit.ts";
import type { Log } from "../../../kernel/plugin.ts";
import { type Answers, GONE } from "../answer/answer.ts";
import { openEventStream } from "../answer/sse.ts";
import type { PageOf } from "../resolve/gate.ts";
import type { Begun } from "../turn/intake.ts";
import { refusalOf } from "../wire/refusal.ts";
import { createChunks, type Frame } from "./chunks.ts";
import { completionOf } from "./completion.ts";
import { failed, failureOf } from "./failure.ts";
import type { Form } from "./request.ts";
import type { Completion } from "./wire.ts";

export interface CompletionAnswerParts {
  readonly answers: Answers;
  readonly log: Log;
  readonly pageOf: PageOf;
}

export interface WholeAnswer extends Omit<HttpFault, "body" | "isBug"> {
  readonly body: Completion | ErrorEnvelope;
}

export interface CompletionAnswers {
  whole(begun: Begun, form: Form): Promise<WholeAnswer>;
  /** Ends when the turn or the reader does; the turn runs on without a reader. */
  stream(begun: Begun, form: Form, response: ServerResponse): Promise<void>;
}

const DONE = "[DONE]";

export function createCompletionAnswers({ answers, log, pageOf }: CompletionAnswerParts): CompletionAnswers {
  async function* framesOf({ taken, running }: Begun, form: Form): AsyncGenerator<Frame> {
    const chunks = createChunks(taken, form, (record) => failureOf(record, taken.error, pageOf));
    yield* chunks.open();
    if (running) {
      for await (const event of running) yield* chunks.next(event);
      return;
    }
    const record = await answers.ended(taken);
    if (record) yield* chunks.replay(record);
    else yield failed(taken.error ?? GONE).body;
  }

  return {
    async whole(begun, form) {
      const { record, error } = await answers.settled(begun);
      if (record === undefined) return failed(error);
      const failure = failureOf(record, error, pageOf);
      if (failure) return failure;
      return { status: 200, headers: {}, body: completionOf(begun.taken, form, record) };
    },

    async stream(begun, form, response) {
      const stream = openEventStream(response);
      const send = (frame: Frame) => stream.send(JSON.stringify(frame));
      try {
        for await (const frame of framesOf(begun, form)) if (!(await send(frame))) break;
      } catch (error) {
        log.error({ error, completion: begun.taken.id }, "a stream broke");
        await send(refusalOf(error, true).body);
      } finally {
        await stream.send(DONE);
        stream.end();
      }
    },
  };
}
