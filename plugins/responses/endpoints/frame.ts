/** What a client sends over the socket: the body of a request, and a few words about the connection. */
import { parseJson, Type } from "../../../kernel/kit.ts";
import { compile } from "../wire/check.ts";
import { invalid } from "../wire/refusal.ts";

export interface CreateFrame {
  /** As `POST /responses` takes it. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Said again in every event of the answer. */
  readonly lane: string | undefined;
  /** False: nothing is asked of the model; the input is kept for a request that goes on from here. */
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

/** The lane of a frame that may be anything, so that its refusal finds the way back. */
export function laneOf(frame: unknown): string | undefined {
  const { stream_id: lane } = Object(frame) as { readonly stream_id?: unknown };
  return typeof lane === "string" && lane.length <= 128 ? lane : undefined;
}

export function readJsonFrame(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw invalid("type", "invalid_message", "A message must be a JSON object with a type.");
  }
}

export function readFrame(frame: unknown): CreateFrame {
  const { stream_id, generate } = checkEnvelope(frame);
  const { type: _type, stream_id: _lane, generate: _generate, ...body } = frame as Record<string, unknown>;
  // A socket always streams.
  return { body: { ...body, stream: true }, lane: stream_id, generates: generate ?? true };
}
