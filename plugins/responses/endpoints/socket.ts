/**
 * Responses over a WebSocket, as the Open Responses specification has it: `response.create` goes in, the events of the stream
 * come out, and a request on the same connection can go on from the last one though nothing of it was stored.
 */
import type { RawData, WebSocket } from "ws";
import { applyLimit } from "../../../kernel/kit.ts";
import { Fault, type Limiter, type Log, type User, type Web } from "../../../kernel/plugin.ts";
import type { Answers } from "../answer/answer.ts";
import type { CreateRequest } from "../parse/request.ts";
import type { GoingOn } from "../resolve/conversation.ts";
import type { Begun, ConversationPlace } from "../turn/intake.ts";
import { refusalOf } from "../wire/refusal.ts";
import { type Body, createChain } from "./chain.ts";
import { type CreateFrame, laneOf, readFrame, readJsonFrame } from "./frame.ts";
import { warmUp } from "./warm-up.ts";

export interface SocketParts {
  readonly web: Web;
  readonly log: Log;
  readonly chatLimit: Limiter;
  readonly answers: Answers;
  /** Goes on with the conversation that a body names. */
  goingOn(user: string, body: unknown): Promise<GoingOn>;
  /** Reads a body as `POST /responses` does. */
  read(body: unknown): CreateRequest;
  /** Starts its turn. */
  take(user: User, request: CreateRequest, place: ConversationPlace | undefined): Promise<Begun>;
}

/** As of a body that is posted. */
const LARGEST_MESSAGE = 14 * 1024 * 1024;
/** Requests that wait until the one before them has been answered. */
const MOST_WAITING = 8;

const ENDS = new Set(["response.completed", "response.failed", "response.incomplete"]);

export function mountResponseSocket(parts: SocketParts, path: string): void {
  parts.web.mountSocket({
    path,
    tag: "responses",
    summary: "Open a WebSocket that takes `response.create` messages and sends the events of each response",
    largestMessage: LARGEST_MESSAGE,
    accept: (socket, user) => serve(parts, socket, user),
  });
}

function serve(parts: SocketParts, socket: WebSocket, user: User): void {
  const chain = createChain(LARGEST_MESSAGE);
  const waiting: string[] = [];
  let waitingBytes = 0;
  let isBusy = false;

  /** Resolves when there is room for more; false once the reader has gone. */
  const send = (event: object, lane: string | undefined): Promise<boolean> =>
    new Promise((resolve) => {
      if (socket.readyState !== socket.OPEN) return resolve(false);
      const text = JSON.stringify(lane === undefined ? event : { ...event, stream_id: lane });
      return socket.send(text, (error) => resolve(!error));
    });

  async function refuse(error: unknown, lane: string | undefined, turnBegan = false): Promise<void> {
    const { status, body, isBug } = refusalOf(error, turnBegan);
    if (isBug) parts.log.error({ error, user: user.id }, "a request on a socket failed by a bug");
    await send({ type: "error", status, error: body.error }, lane);
  }

  async function run({ lane, generates, body: given }: CreateFrame): Promise<void> {
    applyLimit(await parts.chatLimit.take(user.id), { set: () => {} });
    const body = chain.expand(given);
    if (!generates) {
      const request = parts.read(body);
      const events = warmUp(request);
      chain.remember(events.id, body, []);
      for (const event of events.list) await send(event, lane);
      return;
    }
    const { request, begun } = await begin(body).catch((error: unknown) => {
      // The specification has a failed continuation forget what it went on from.
      if (body !== given) chain.forget();
      throw error;
    });
    try {
      await follow(begun, request, body, lane);
    } catch (error) {
      await refuse(error, lane, true);
    }
  }

  async function begin(body: Body): Promise<{ request: CreateRequest; begun: Begun }> {
    const going = await parts.goingOn(user.id, body);
    const request = parts.read(going.body);
    return { request, begun: await parts.take(user, request, going.place) };
  }

  async function follow(begun: Begun, request: CreateRequest, body: Body, lane?: string): Promise<void> {
    for await (const event of parts.answers.events(begun, { door: "open", model: request.model })) {
      if ("response" in event && ENDS.has(event.type)) {
        const { id, status, output } = event.response;
        // What failed is not gone on from; what was stored is found by its id.
        if (status === "failed") chain.forget();
        else if (!request.store) chain.remember(id, body, output);
      }
      // The turn does not care about the reader.
      if (!(await send(event, lane))) return;
    }
  }

  async function answer(text: string): Promise<void> {
    let lane: string | undefined;
    try {
      const frame = readJsonFrame(text);
      lane = laneOf(frame);
      await run(readFrame(frame));
    } catch (error) {
      await refuse(error, lane);
    }
  }

  /** One after the other: a socket has one turn at a time. */
  async function work(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      waitingBytes -= text.length;
      if (socket.readyState === socket.OPEN) await answer(text);
    }
    isBusy = false;
  }

  socket.on("message", (data: RawData, isBinary: boolean) => {
    if (isBinary) return void refuse(BINARY, undefined);
    const text = String(data);
    const isTooMuch = waiting.length >= MOST_WAITING || waitingBytes + text.length > LARGEST_MESSAGE;
    if (isBusy && isTooMuch) return void refuse(TOO_MANY, undefined);
    waiting.push(text);
    waitingBytes += text.length;
    return void work();
  });
}

const BINARY = new Fault("invalid", "invalid_message", "A message must be a text, not binary.", {
  param: "type",
});
const TOO_MANY = new Fault(
  "limited",
  "too_many_messages",
  `A socket answers one request at a time: ${MOST_WAITING} others may wait, with 14 MiB together. Wait for an answer, or open another socket.`,
);
