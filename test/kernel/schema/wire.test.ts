/** One declaration of a thing gives its type, its schema and its wire form. */
import { Ajv } from "ajv";
import formats from "ajv-formats";
import TypeBox from "typebox";
import { describe, expect, test } from "vitest";
import type { Gate, Job, ToolInfo, TurnRecord } from "../../../kernel/plugin.ts";
import { nullable, type Wire } from "../../../kernel/schema/declare.ts";
import { Type } from "../../../kernel/schema/type.ts";
import { fromWire, toWire } from "../../../kernel/schema/wire-convert.ts";
import { wireSchema } from "../../../kernel/schema/wire-schema.ts";
import * as job from "../../../kernel/vocabulary/job.ts";
import * as tools from "../../../kernel/vocabulary/tools.ts";
import * as turn from "../../../kernel/vocabulary/turn.ts";
import { JobDetails } from "../../../plugins/jobs/commands/job.ts";
import { CompletedJob, JobRecord, JobSubmission } from "../../../plugins/webhook/job-wire.ts";

const CALL = { id: "c1", name: "weather", params: '{"cityName":"Ulm"}' };

const GATE: Gate = {
  type: "authentication",
  id: "g1",
  turn: "t1",
  thread: "th1",
  openedAt: "2026-01-02T03:04:05.000Z",
  call: CALL,
  secret: "apiKey",
  message: "The key is missing.",
};

const TURN: TurnRecord = {
  id: "t1",
  thread: "th1",
  user: "ada",
  channel: "gateway",
  status: "waiting",
  input: { type: "approval", gate: "g0", decision: "once" },
  items: [
    { type: "message", id: "i1", role: "assistant", text: "One moment" },
    { type: "tool_call", id: "i2", call: CALL, external: false },
    { type: "tool_result", id: "i3", call: "c1", outcome: { status: "ok", output: "{}", receipt: "r1" } },
  ],
  gate: GATE,
  model: { provider: "openai", name: "m" },
  usage: {
    inputTokens: 3,
    outputTokens: 4,
    cachedTokens: 1,
    reasoningTokens: 2,
    inputCost: "0.1",
    outputCost: "0.2",
    totalCost: "0.3",
  },
  createdAt: "2026-01-02T03:04:05.000Z",
};

const TURN_ON_WIRE: Wire<typeof turn.TurnRecord> = {
  id: "t1",
  thread_id: "th1",
  after: null,
  channel: "gateway",
  status: "waiting",
  input: { type: "approval", gate: "g0", decision: "once" },
  items: [
    { type: "message", id: "i1", role: "assistant", text: "One moment" },
    { type: "tool_call", id: "i2", call: CALL, external: false },
    { type: "tool_result", id: "i3", call: "c1", outcome: { status: "ok", output: "{}", receipt: "r1" } },
  ],
  gate: {
    type: "authentication",
    id: "g1",
    turn_id: "t1",
    thread_id: "th1",
    opened_at: "2026-01-02T03:04:05.000Z",
    call: CALL,
    secret: "apiKey",
    message: "The key is missing.",
  },
  model: { provider: "openai", name: "m" },
  usage: {
    input_tokens: 3,
    output_tokens: 4,
    total_tokens: 7,
    cached_tokens: 1,
    reasoning_tokens: 2,
    cost: 0.3,
    cost_details: {
      input_cost_usd: "0.1",
      output_cost_usd: "0.2",
      total_cost_usd: "0.3",
      currency: "USD",
    },
  },
  created_at: "2026-01-02T03:04:05.000Z",
};

const TOOL: ToolInfo = {
  name: "weather",
  version: "1.0.0",
  description: "Weather",
  schema: { type: "object", properties: { cityName: { type: "string", maxLength: 5 } } },
  grants: ["GET https://example.com/"],
  writes: false,
};

const JOB: Job = {
  id: "j1",
  user: "ada",
  channel: "webhook",
  message: "Hi",
  attempts: 1,
  status: "completed",
  createdAt: "2026-01-02T03:04:05.000Z",
  conversation: "c1",
  response: "done",
};

function compile(schema: object) {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true });
  formats.default(ajv);
  return ajv.compile(schema);
}

test("our builders make the schemas that TypeBox makes", () => {
  const declare = (T: Pick<typeof TypeBox, keyof typeof Type>) =>
    T.Object(
      {
        text: T.String({ minLength: 1, description: "some" }),
        number: T.Number({ minimum: 0 }),
        whole: T.Integer(),
        flag: T.Boolean(),
        nothing: T.Null(),
        any: T.Unknown(),
        constant: T.Literal("a"),
        choice: T.Enum(["x", "y"]),
        list: T.Array(T.String(), { maxItems: 3 }),
        either: T.Union([T.Object({ type: T.Literal("z") }), T.Null()], { $id: "Either" }),
        record: T.Record(T.String(), T.Unknown()),
        absent: T.Optional(T.Object({})),
      },
      { $id: "Everything" },
    );
  expect(JSON.stringify(declare(Type))).toBe(JSON.stringify(declare(TypeBox)));
});

describe("on the wire", () => {
  test("names are snake_case, whose turn it is stays here, and usage is counted up", () => {
    expect(toWire(turn.TurnRecord, TURN)).toEqual(TURN_ON_WIRE);
  });

  test("a value comes back as it went, but for what is never sent", () => {
    const { user: _, ...sent } = TURN;
    expect(fromWire(turn.TurnRecord, TURN_ON_WIRE)).toEqual(sent);
  });

  test("what is free-form crosses untouched, and what is not declared does not cross", () => {
    expect(toWire(tools.ToolInfo, { ...TOOL, path: "/home/ada/tool.wasm" } as ToolInfo)).toEqual(TOOL);
  });

  test("the schema is that of the values, and knows nothing else", () => {
    const check = compile(wireSchema(turn.TurnRecord, { closed: true }));
    expect(check(TURN_ON_WIRE), JSON.stringify(check.errors)).toBe(true);
    expect(check({ ...TURN_ON_WIRE, user: "ada" })).toBe(false);
    expect(check({ ...TURN_ON_WIRE, created_at: undefined })).toBe(false);
  });

  test("a thing with a name is rendered once and referred to", () => {
    const named = new Map<string, object>();
    const refer = (name: string, render: () => object) => {
      if (!named.has(name)) named.set(name, render());
      return { $ref: `#/components/schemas/${name}` };
    };
    expect(wireSchema(turn.TurnRecord, { refer })).toEqual({ $ref: "#/components/schemas/Turn" });
    expect([...named.keys()].toSorted()).toEqual([
      "Attachment",
      "CallSummary",
      "Doubt",
      "DoubtReason",
      "FileChange",
      "Gate",
      "ModelName",
      "Origin",
      "PlannedStep",
      "Question",
      "Reply",
      "RuleOffer",
      "ToolCall",
      "ToolOutcome",
      "Turn",
      "TurnInput",
      "TurnItem",
      "Usage",
    ]);
  });

  test("§2.3 and §2.4 show of a job what they say; a callback and the command line also whose it is", () => {
    const common = { status: "completed", response: "done" };
    const record = { id: "j1", ...common, created_at: JOB.createdAt };
    expect(toWire(JobSubmission, JOB)).toEqual({ job_id: "j1", ...common });
    expect(toWire(JobRecord, JOB)).toEqual(record);
    expect(toWire(CompletedJob, JOB)).toEqual({ ...record, user_id: "ada", conversation_id: "c1" });
    const asked = { message: "Hi", attempts: 1 };
    const details = { ...record, user_id: "ada", conversation_id: "c1", thread_id: null };
    expect(toWire(JobDetails, JOB)).toEqual(details);
    expect(toWire(job.Job, JOB)).toEqual({ ...record, ...asked, user: "ada", conversation_id: "c1" });
  });

  test("what may be absent here and is null there goes both ways, and its schema says so", () => {
    const Token = Type.Object({ id: Type.String(), expiresAt: nullable(Type.String()) });
    expect(toWire(Token, { id: "a" })).toEqual({ id: "a", expires_at: null });
    expect(fromWire(Token, { id: "a", expires_at: null })).toEqual({ id: "a" });
    expect(fromWire(Token, { id: "a", expires_at: "now" })).toEqual({ id: "a", expiresAt: "now" });
    const check = compile(wireSchema(Token, { closed: true }));
    expect(
      [
        { id: "a", expires_at: null },
        { id: "a", expires_at: "now" },
      ].map((value) => check(value)),
    ).toEqual([true, true]);
    expect(check({ id: "a" })).toBe(false);
  });

  test("the type of the wire form is checked by the compiler", () => {
    const sent = toWire(turn.TurnRecord, TURN);
    const total: number = sent.usage.total_tokens;
    // @ts-expect-error it is called thread_id there
    sent.thread;
    // @ts-expect-error it is never sent
    sent.user;
    // @ts-expect-error it may be absent
    const completed: string = sent.completed_at;
    // @ts-expect-error everything is read-only
    sent.status = "done";
    expect([total, completed]).toEqual([7, undefined]);
  });
});
