/** `/embeddings`, by the model that memory is searched with. */
import type { Context } from "koa";
import { applyLimit, type Declared, estimateText, Type } from "../../../kernel/kit.ts";
import { Fault, type Limiter, type Services } from "../../../kernel/plugin.ts";
import type { Endpoint, Mounting } from "../endpoint.ts";
import { compile } from "../intake/check.ts";
import { invalid } from "../refusal.ts";

export interface EmbeddingParts extends Mounting {
  readonly memory: Pick<Services["memory"], "embed">;
  readonly chatLimit: Limiter;
}

const MOST_TEXTS = 2048;
const MOST_TOKENS = 8192;
const MOST_TOKENS_TOGETHER = 300_000;
// One thread makes them, for everybody.
const REQUESTS_AT_ONCE = 4;

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
  { refusal: "must be a JSON object, sent as application/json" },
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

export function embeddingEndpoint({ web, memory, chatLimit }: EmbeddingParts): Endpoint {
  const running = new Map<string, number>();

  async function create(context: Context): Promise<void> {
    const user = web.user(context).id;
    applyLimit(await chatLimit.take(user), context, { perRequests: true });
    const body = checkBody((context.request as { readonly body?: unknown }).body);
    const { texts, tokens } = textsOf(body.input);
    const others = running.get(user) ?? 0;
    if (others >= REQUESTS_AT_ONCE) throw tooMany();
    running.set(user, others + 1);
    const signal = gone(context);
    try {
      const vectors = await memory.embed(texts, signal);
      context.body = {
        object: "list",
        data: vectors.map((vector, index) => ({
          object: "embedding",
          index,
          embedding: encode(shortened(vector, body.dimensions ?? undefined), body.encoding_format),
        })),
        model: body.model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      } satisfies Declared<typeof EmbeddingList>;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      const left = (running.get(user) ?? 1) - 1;
      if (left > 0) running.set(user, left);
      else running.delete(user);
    }
  }

  return {
    method: "post",
    path: "/embeddings",
    summary: "Make embeddings of texts, by the built-in model",
    body: EmbeddingBody,
    answer: EmbeddingList,
    refusals: { 429: "Too many requests" },
    handle: create,
  };
}

/** Aborted when the caller hangs up: nobody waits for the rest. */
function gone(context: Context): AbortSignal {
  const controller = new AbortController();
  context.res.once("close", () => controller.abort());
  return controller.signal;
}

function textsOf(input: unknown): { readonly texts: readonly string[]; readonly tokens: number } {
  const texts: readonly unknown[] = typeof input === "string" ? [input] : Array.isArray(input) ? input : [];
  if (texts.length === 0 || texts.length > MOST_TEXTS)
    throw refuse("input", `must be a text, or an array of 1 to ${MOST_TEXTS} texts`);
  const at = (index: number) => (typeof input === "string" ? "input" : `input[${index}]`);
  let tokens = 0;
  for (const [index, text] of texts.entries()) {
    if (typeof text !== "string")
      throw refuse(at(index), "must be a text: tokens are not taken, since this model counts its own");
    if (text.trim() === "") throw refuse(at(index), "must not be empty");
    const more = estimateText(text);
    if (more > MOST_TOKENS)
      throw refuse(at(index), `must have at most ${MOST_TOKENS} tokens (four bytes each)`);
    tokens += more;
  }
  if (tokens > MOST_TOKENS_TOGETHER)
    throw refuse("input", `must have at most ${MOST_TOKENS_TOGETHER} tokens together (four bytes each)`);
  return { texts: texts as readonly string[], tokens };
}

const refuse = (param: string, words: string) => invalid(param, "invalid_input", `"${param}" ${words}.`);

function shortened(vector: Float32Array, dimensions = vector.length): Float32Array {
  if (dimensions > vector.length)
    throw invalid(
      "dimensions",
      "invalid_dimensions",
      `"dimensions" must be at most ${vector.length}: the model's vectors have no more.`,
    );
  if (dimensions === vector.length) return vector;
  const kept = vector.subarray(0, dimensions);
  const length = Math.hypot(...kept) || 1;
  return kept.map((value) => value / length);
}

function encode(vector: Float32Array, format: "float" | "base64" | null | undefined): number[] | string {
  if (format !== "base64") return [...vector];
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString("base64");
}

const tooMany = () =>
  new Fault(
    "limited",
    "too_many_embeddings",
    `You have ${REQUESTS_AT_ONCE} requests for embeddings under way already: wait until one is answered.`,
  );
