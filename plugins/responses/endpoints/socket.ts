/** Responses over a WebSocket. A request can continue from the connection's last one though it was stored nowhere. */
import { randomUUIDv7 } from "node:crypto";
import type { RawData, WebSocket } from "ws";
import { applyLimit, parseLargeJson } from "../../../kernel/kit/http.ts";
import { bytesOf, Type } from "../../../kernel/kit/schema.ts";
import { Fault, type User } from "../../../kernel/plugin.ts";
import { respond } from "../answer/response.ts";
import { parseOpen } from "../parse/open.ts";
import type { CreateRequest } from "../parse/request.ts";
import { rawItems } from "../resolve/conversation.ts";
import type { Begun } from "../turn/intake.ts";
import { formatResponseId } from "../wire/id.ts";
import { compile, invalid, refusalOf } from "../wire/refusal.ts";
import type { EndpointParts } from "./endpoint.ts";

/** A message may be as large as a body that is posted. */
const MAX_MESSAGE_BYTES = 14 * 1024 * 1024;
/** How many requests may wait until the one before them has been answered. */
const MAX_WAITING = 8;

const ENDS = new Set(["response.completed", "response.failed", "response.incomplete"]);

export function mountResponseSocket(parts: EndpointParts, path: string): () => void {
  return parts.web.mountSocket({
    path,
    tag: "responses",
    scoped: true,
    summary: "Open a WebSocket that takes `response.create` messages and sends the events of each response",
    largestMessage: MAX_MESSAGE_BYTES,
    accept: (socket, user) => serve(parts, socket, user),
  });
}

function serve(parts: EndpointParts, socket: WebSocket, user: User): void {
  const chain = createChain();
  const parse = (body: Body) => parseOpen(body, parts.toolCalls !== undefined);
  const waiting: string[] = [];
  let waitingBytes = 0;
  let isBusy = false;

  /** Resolves when there is room for more; with false once the reader has gone. */
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
    applyLimit(await parts.agent.chatLimit.take(user.id), { set: () => {} });
    const body = chain.expand(given);
    if (!generates) {
      const { id, events } = warmUp(parse(body));
      chain.remember(id, body, []);
      for (const event of events) await send(event, lane);
      return;
    }
    const { request, begun } = await begin(body).catch((error: unknown) => {
      // By the specification a failed continuation forgets what it continued from.
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
    const joined = await parts.joinConversation(user.id, body);
    const request = parse(joined.body as Body);
    return { request, begun: await parts.intake.take(user, request, undefined, joined.place) };
  }

  async function follow(begun: Begun, request: CreateRequest, body: Body, lane?: string): Promise<void> {
    for await (const event of parts.answers.events(begun, { dialect: "open", model: request.model })) {
      if ("response" in event && ENDS.has(event.type)) {
        const { id, status, output } = event.response;
        // A failed response cannot be continued; a stored one is found by its id.
        if (status === "failed") chain.forget();
        else if (!request.store) chain.remember(id, body, output);
      }
      // The turn runs on without a reader.
      if (!(await send(event, lane))) return;
    }
  }

  async function answer(text: string): Promise<void> {
    let lane: string | undefined;
    try {
      const frame = await readJsonFrame(text);
      lane = laneOf(frame);
      await run(readFrame(frame));
    } catch (error) {
      await refuse(error, lane);
    }
  }

  /** A socket has one turn at a time. */
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
    const isTooMuch = waiting.length >= MAX_WAITING || waitingBytes + text.length > MAX_MESSAGE_BYTES;
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
  `A socket answers one request at a time: ${MAX_WAITING} others may wait, with 14 MiB together. Wait for an answer, or open another socket.`,
);

/** The body of a `POST /responses`. */
type Body = Readonly<Record<string, unknown>>;

interface CreateFrame {
  readonly body: Body;
  readonly lane: string | undefined;
  /** False: the model is not called; the input is kept for a request that continues from here. */
  readonly generates: boolean;
}

const Envelope = Type.Object(
  {
    type: Type.Literal("response.create", { refusal: 'must be "response.create"' }),
    stream_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, refusal: "must be a text of 1 to 128 characters" }),
    ),
    generate: Type.Optional(Type.Boolean({ refusal: "must be true or false" })),
    background: Type.Optional(
      Type.Union([Type.Literal(false), Type.Null()], {
        refusal: "cannot be true on a socket: send the request to POST /responses",
      }),
    ),
  },
  { refusal: "must be a JSON object" },
);

const checkEnvelope = compile(Envelope);

/** The lane of a frame that is not checked yet, for its refusal. */
function laneOf(frame: unknown): string | undefined {
  const { stream_id: lane } = Object(frame) as { readonly stream_id?: unknown };
  return typeof lane === "string" && lane.length <= 128 ? lane : undefined;
}

async function readJsonFrame(text: string): Promise<unknown> {
  try {
    return await parseLargeJson(text);
  } catch {
    throw invalid("type", "invalid_message", "A message must be a JSON object with a type.");
  }
}

function readFrame(frame: unknown): CreateFrame {
  const { stream_id: lane, generate } = checkEnvelope(frame);
  const { type: _type, stream_id: _lane, generate: _generate, ...body } = frame as Body;
  // A socket always streams.
  return { body: { ...body, stream: true }, lane, generates: generate ?? true };
}

/** Remembers a connection's last response that is stored nowhere, so that the next request can continue from it. */
function createChain() {
  /** `previous` is a stored response that the items continue from. */
  let last:
    | { readonly id: string; readonly items: readonly unknown[]; readonly previous: unknown }
    | undefined;
  const itemsOf = ({ input }: Body) => (input === undefined || input === null ? [] : rawItems(input));
  return {
    /** The body with the items that its `previous_response_id` stands for before its input. */
    expand(body: Body): Body {
      if (last === undefined || body["previous_response_id"] !== last.id) return body;
      return { ...body, input: [...last.items, ...itemsOf(body)], previous_response_id: last.previous };
    },
    remember(id: string, body: Body, output: readonly unknown[]): void {
      const items = [...itemsOf(body), ...output];
      const isSmall = (bytesOf(items) ?? Number.POSITIVE_INFINITY) <= MAX_MESSAGE_BYTES;
      last = isSmall ? { id, items, previous: body["previous_response_id"] ?? undefined } : undefined;
    },
    forget(): void {
      last = undefined;
    },
  };
}

/** The answer to `generate: false`: the request was read and is remembered, and the model was not called. */
function warmUp({ model, echo }: CreateRequest) {
  // It is the id of no turn: only the connection knows it.
  const place = { turn: randomUUIDv7(), thread: randomUUIDv7() };
  const createdAt = Math.floor(Date.now() / 1000);
  const begun = respond(place, model, echo, true, { status: "in_progress", createdAt });
  const ended = respond(place, model, echo, true, { status: "completed", createdAt, completedAt: createdAt });
  return {
    id: formatResponseId(place),
    events: [
      { type: "response.created", response: begun, sequence_number: 0 },
      { type: "response.completed", response: ended, sequence_number: 1 },
    ],
  };
}
