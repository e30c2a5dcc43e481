/** `/embeddings`, by the model that searches memory. */
import { Type } from "../../../kernel/kit/schema.ts";
import { estimateText } from "../../../kernel/kit/turns.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { BODY } from "../parse/request.ts";
import { compile, invalid } from "../wire/refusal.ts";
import { createSlots, type Endpoint, type EndpointParts, endpoint, hangUp } from "./endpoint.ts";

const MAX_TEXTS = 2048;
const MAX_TOKENS = 8192;
const MAX_TOTAL_TOKENS = 300_000;
// One thread makes the embeddings of all users.
const MAX_AT_ONCE = 4;

const Body = Type.Object(
  {
    model: Type.String({ minLength: 1, maxBytes: 256, refusal: "must be a name of 1 to 256 bytes" }),
    input: Type.Unknown(),
    encoding_format: Type.Optional(
      Type.Union([Type.Enum(["float", "base64"]), Type.Null()], { refusal: "must be float or base64" }),
    ),
    dimensions: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { refusal: "must be a whole number from 1" }),
    ),
    user: Type.Optional(Type.Unknown()),
  },
  BODY,
);

const EmbeddingBody = Type.Object(
  { ...Body.properties, input: Type.Union([Type.String(), Type.Array(Type.String())]) },
  { $id: "CreateEmbedding" },
);

const EmbeddingList = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({
      object: Type.Literal("embedding"),
      index: Type.Integer(),
      embedding: Type.Union([
        Type.Array(Type.Number()),
        Type.String({ description: "32-bit floats, little-endian, as base64" }),
      ]),
    }),
  ),
  model: Type.String(),
  usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
});

const checkBody = compile(Body);

export function embeddingEndpoint({ memory }: EndpointParts): Endpoint {
  const inSlot = createSlots(MAX_AT_ONCE, tooMany);
  return endpoint("post", "/embeddings", {
    summary: "Make embeddings of texts, by the built-in model",
    limited: true,
    body: EmbeddingBody,
    readBody: checkBody,
    answer: EmbeddingList,
    refusals: { 429: "Too many requests" },
    async handle({ user, body, context }) {
      const { texts, tokens } = textsOf(body.input);
      const { model, dimensions, encoding_format } = body;
      const signal = hangUp(context);
      const vectors = await inSlot(user.id, () => memory.embed(texts, signal)).catch((error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      });
      return {
        object: "list" as const,
        data: vectors.map((vector, index) => ({
          object: "embedding" as const,
          index,
          embedding: encode(shortened(vector, dimensions ?? undefined), encoding_format),
        })),
        model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      };
    },
  });
}

function textsOf(input: unknown): { readonly texts: readonly string[]; readonly tokens: number } {
  const texts: readonly unknown[] = typeof input === "string" ? [input] : Array.isArray(input) ? input : [];
  if (texts.length === 0 || texts.length > MAX_TEXTS)
    throw refuse("input", `must be a text, or an array of 1 to ${MAX_TEXTS} texts`);
  const at = (index: number) => (typeof input === "string" ? "input" : `input[${index}]`);
  let tokens = 0;
  for (const [index, text] of texts.entries()) {
    if (typeof text !== "string")
      throw refuse(at(index), "must be a text: tokens are not taken, since this model counts its own");
    if (text.trim() === "") throw refuse(at(index), "must not be empty");
    const more = estimateText(text);
    if (more > MAX_TOKENS)
      throw refuse(at(index), `must have at most ${MAX_TOKENS} tokens (four bytes each)`);
    tokens += more;
  }
  if (tokens > MAX_TOTAL_TOKENS)
    throw refuse("input", `must have at most ${MAX_TOTAL_TOKENS} tokens together (four bytes each)`);
  return { texts: texts as readonly string[], tokens };
}

const refuse = (param: string, words: string) => invalid(param, "invalid_input", `"${param}" ${words}.`);

function shortened(vector: Float32Array, dimensions = vector.length): Float32Array {
  if (dimensions > vector.length) {
    const message = `"dimensions" must be at most ${vector.length}: the model's vectors have no more.`;
    throw invalid("dimensions", "invalid_dimensions", message);
  }
  if (dimensions === vector.length) return vector;
  const kept = vector.subarray(0, dimensions);
  const length = Math.hypot(...kept) || 1;
  return kept.map((value) => value / length);
}

function encode(vector: Float32Array, format: "float" | "base64" | null | undefined): number[] | string {
  if (format !== "base64") return [...vector];
  // Every machine that Node runs on is little-endian, as the format is.
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}

const tooMany = () =>
  new Fault(
    "limited",
    "too_many_embeddings",
    `You already have ${MAX_AT_ONCE} requests for embeddings in progress: wait until one is answered.`,
  );
