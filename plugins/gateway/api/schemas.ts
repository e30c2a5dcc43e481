/** The shapes of answers, named as the OpenAPI document names them. Tests hold every real answer against these. */
import type { JsonSchema } from "../../../kernel/plugin.ts";

type Properties = Readonly<Record<string, JsonSchema>>;

export const text: JsonSchema = { type: "string" };
export const whole: JsonSchema = { type: "integer" };
export const flag: JsonSchema = { type: "boolean" };
export const time: JsonSchema = { type: "string", format: "date-time" };
export const list = (items: JsonSchema): JsonSchema => ({ type: "array", items });
export const oneOf = (...values: readonly string[]): JsonSchema => ({ type: "string", enum: values });
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const constant = (value: string): JsonSchema => ({ type: "string", const: value });

/** Every property is there, except the optional; no other is. */
export function object(properties: Properties, optional: Properties = {}): JsonSchema {
  return {
    type: "object",
    additionalProperties: false,
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
  };
}

/** A page of a list: pass `next` as `before` to go on; null at the end. */
export const page = (name: string, items: JsonSchema): JsonSchema =>
  object({ [name]: list(items), next: { type: ["string", "null"] } });

export const pageQuery = {
  limit: { type: "integer", minimum: 1, maximum: 200 },
  before: { type: "string", description: "`next` of the page before" },
};

const toolCall = object({ id: text, name: text, params: { type: "string", description: "A JSON text" } });

const outcome: JsonSchema = {
  oneOf: [
    object({ status: constant("ok"), output: text }, { receipt: text }),
    object({ status: constant("error"), code: text, message: text }, { receipt: text }),
    object({ status: constant("unauthenticated"), tool: text, secret: text, message: text }),
  ],
};

const gateBase = { id: text, turn_id: text, thread_id: text, opened_at: time, call: ref("ToolCall") };

const gate: JsonSchema = {
  oneOf: [
    object({ type: constant("external_tool"), ...gateBase }),
    object({ type: constant("approval"), ...gateBase, grants: list(text) }),
    object({ type: constant("authentication"), ...gateBase, secret: text, message: text }),
  ],
};

const input: JsonSchema = {
  oneOf: [
    object({ type: constant("message"), text }),
    object({ type: constant("tool_output"), call: text, output: text }),
    object({ type: constant("approval"), gate: text, decision: oneOf("once", "always", "deny") }),
    object({ type: constant("authentication"), gate: text, decision: oneOf("done", "deny") }),
  ],
};

const item: JsonSchema = {
  oneOf: [
    object({ type: constant("message"), id: text, role: oneOf("user", "assistant", "system"), text }),
    object({ type: constant("tool_call"), id: text, call: ref("ToolCall"), external: flag }),
    object({ type: constant("tool_result"), id: text, call: text, outcome: ref("ToolOutcome") }),
  ],
};

const failure = object({ code: text, message: text });
const status = oneOf("queued", "running", "waiting", "completed", "failed", "cancelled");

const turn = object(
  {
    id: text,
    thread_id: text,
    channel: text,
    status,
    input: ref("TurnInput"),
    items: list(ref("TurnItem")),
    model: ref("ModelName"),
    usage: ref("Usage"),
    created_at: time,
  },
  { error: failure, gate: ref("Gate"), completed_at: time },
);

const usage = object({
  input_tokens: whole,
  output_tokens: whole,
  total_tokens: whole,
  cached_tokens: whole,
  reasoning_tokens: whole,
  cost: object({
    input_cost_usd: text,
    output_cost_usd: text,
    total_cost_usd: text,
    currency: constant("USD"),
  }),
});

/** A frame of the socket that tells of a turn; `id` grows by one from frame to frame of a stream. */
const eventBase = { id: whole, turn_id: text, thread_id: text };
const event = (type: string, properties: Properties): JsonSchema =>
  object({ type: constant(type), ...eventBase, ...properties });

const frame: JsonSchema = {
  oneOf: [
    object({ type: constant("hello"), stream: text, id: whole, user: ref("User") }),
    object({ type: constant("resync"), stream: text, id: whole, reason: text }),
    object({ type: constant("alive"), stream: text, id: whole }),
    event("started", { model: ref("ModelName") }),
    event("text", { item: text, delta: text }),
    event("tool_started", { item: text, call: ref("ToolCall") }),
    event("tool_finished", {
      item: text,
      call: ref("ToolCall"),
      outcome: ref("ToolOutcome"),
      millis: { type: "number" },
    }),
    event("gate", { gate: ref("Gate") }),
    event("notice", { code: text, message: text }),
    event("usage", { usage: ref("Usage") }),
    event("done", { status: oneOf("completed", "waiting", "cancelled"), turn: ref("Turn") }),
    event("failed", { code: text, message: text, turn: ref("Turn") }),
  ],
};

const toolBase = {
  version: text,
  description: text,
  schema: { type: "object" },
  grants: list(text),
  writes: flag,
};

export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Error: object({
    error: object({ message: text, type: text, param: { type: ["string", "null"] }, code: text }),
  }),
  User: object({ id: text, role: oneOf("operator", "user") }),
  ToolCall: toolCall,
  ToolOutcome: outcome,
  Gate: gate,
  TurnInput: input,
  TurnItem: item,
  ModelName: object({ provider: text, name: text }),
  Usage: usage,
  Turn: turn,
  Thread: object(
    { id: text, title: text, created_at: time, updated_at: time, turns: whole },
    { gate: ref("Gate") },
  ),
  Job: object(
    { id: text, user: text, status: oneOf("queued", "running", "completed"), created_at: time },
    { thread_id: text, conversation_id: text, response: text, error: failure, completed_at: time },
  ),
  Tool: object({ name: text, ...toolBase }),
  ToolProposal: object(
    { digest: text, ...toolBase },
    { replaces: object({ version: text, added: list(text), removed: list(text) }) },
  ),
  ToolSetup: object({
    secrets: list(object({ name: text, is_set: flag, question: text }, { instructions: text, url: text })),
    signs_in: flag,
  }),
  Receipt: object(
    {
      id: text,
      at: time,
      tool: text,
      user: text,
      millis: { type: "number" },
      status: oneOf("ok", "error", "unauthenticated"),
      requests: list(
        object(
          { method: text, host: text, bytes: whole, millis: { type: "number" } },
          { status: whole, error: text },
        ),
      ),
      credentials: list(text),
      memory_peak: whole,
      logs: list(object({ level: text, message: text })),
    },
    { code: text, message: text },
  ),
  Account: object({ id: text, role: oneOf("operator", "user"), created_at: time }),
  Token: object({
    id: text,
    user: text,
    name: text,
    created_at: time,
    expires_at: { type: ["string", "null"] },
    last_used_at: { type: ["string", "null"] },
    revoked_at: { type: ["string", "null"] },
  }),
  SocketFrame: frame,
};
