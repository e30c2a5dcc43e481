import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import { expect, test } from "vitest";
import type { TurnEvent, TurnItem, TurnRecord } from "../../../../kernel/plugin.ts";
import { createChunks, type Frame } from "../../../../plugins/responses/completions/chunks.ts";
import { completionOf } from "../../../../plugins/responses/completions/completion.ts";
import { failureOf } from "../../../../plugins/responses/completions/failure.ts";
import type { Form } from "../../../../plugins/responses/completions/request.ts";
import type { Chunk, Completion } from "../../../../plugins/responses/completions/wire.ts";
import type { TakenRequest } from "../../../../plugins/responses/stored/requests.ts";

/** Held by the compiler: what is sent is what the library's types say, apart from a null that they do not know of. */
type Published<Type> = Omit<Type, "system_fingerprint">;
type Writable<Type> = Type extends readonly (infer Entry)[]
  ? Writable<Entry>[]
  : Type extends object
    ? { -readonly [Key in keyof Type]: Writable<Type[Key]> }
    : Type;
const chunkAsPublished = (chunk: Writable<Chunk>): Published<ChatCompletionChunk> => chunk;
const completionAsPublished = (completion: Writable<Completion>): Published<ChatCompletion> => completion;

const AT = "2026-01-01T00:00:00.000Z";
const CUSTOM = { type: "custom", name: "patch" } as const;
const FORM: Form = { model: "gpt-5", includesUsage: true, isLegacy: false, isJson: false };

const requestOf = ({ id, thread }: TurnRecord): TakenRequest => ({
  id,
  user: "ada",
  thread,
  createdAt: AT,
  echo: { previousResponseId: null, instructions: null, temperature: null, tools: [CUSTOM], metadata: {} },
  input: [],
});

interface Step {
  readonly type: "says" | "thinks" | "works";
  readonly pieces: readonly string[];
}

/** A turn of these steps that ends with these calls. */
function turnOf(steps: readonly Step[], calls: readonly string[], more: Partial<TurnRecord> = {}) {
  const [id, thread] = [randomUUID(), randomUUID()];
  const events: TurnEvent[] = [];
  const items: TurnItem[] = [];
  for (const { type, pieces } of steps) {
    const item = randomUUID();
    const text = pieces.join("");
    if (type === "works") {
      const outcome = { status: "ok", output: text, receipt: `receipt-${items.length}` } as const;
      items.push({
        type: "tool_call",
        id: item,
        call: { id: item, name: "own", params: "{}" },
        external: false,
      });
      items.push({ type: "tool_result", id: randomUUID(), call: item, outcome });
    } else {
      const kind = type === "says" ? "text" : "reasoning";
      events.push(...pieces.map((delta): TurnEvent => ({ type: kind, item, delta })));
      if (type === "says") items.push({ type: "message", id: item, role: "assistant", text });
      else items.push({ type: "reasoning", id: item, text });
    }
  }
  const [call, ...others] = calls.map((name, index) => ({
    id: `call_${index}`,
    name,
    params: JSON.stringify({ input: `of ${index}` }),
  }));
  const record: TurnRecord = {
    id,
    thread,
    user: "ada",
    channel: "responses",
    status: call ? "waiting" : "completed",
    input: { type: "message", text: "Hi" },
    items,
    ...(call && {
      gate: { type: "external_tool", id: randomUUID(), turn: id, thread, openedAt: AT, call, others },
    }),
    model: { provider: "test", name: "test" },
    usage: {
      inputTokens: 7,
      outputTokens: 3,
      cachedTokens: 2,
      reasoningTokens: 1,
      inputCost: "0.5",
      outputCost: "0.25",
      totalCost: "0.75",
    },
    createdAt: AT,
    completedAt: AT,
    ...more,
  };
  const status = call ? "waiting" : "completed";
  return { record, events: [...events, { type: "done", status, record } as TurnEvent] };
}

function framesOf(
  { record, events }: ReturnType<typeof turnOf>,
  form = FORM,
  way: "live" | "replay" = "live",
) {
  const taken = requestOf(record);
  const chunks = createChunks(taken, form, (ended) => failureOf(ended, undefined, () => "the page"));
  const following = way === "live" ? events.flatMap((event) => chunks.next(event)) : chunks.replay(record);
  return [...chunks.open(), ...following];
}

const isChunk = (frame: Frame): frame is Chunk => !("error" in frame);

type Said = Record<string, unknown>;

/** What a client makes of a stream. */
function accumulate(frames: readonly Frame[]) {
  const message: Said = { content: "" };
  const calls: Said[] = [];
  let finish: unknown;
  const add = (to: Said, key: string, more: unknown) => {
    if (typeof more === "string") to[key] = `${to[key] ?? ""}${more}`;
  };
  for (const frame of frames.filter(isChunk)) {
    const [choice] = chunkAsPublished(frame as Writable<Chunk>).choices;
    if (choice === undefined) continue;
    const { role, content, tool_calls = [], function_call, ...rest } = choice.delta;
    if (role) message["role"] = role;
    add(message, "content", content);
    add(message, "reasoning_content", (rest as { reasoning_content?: string }).reasoning_content);
    for (const { index, id, type, function: made, custom } of tool_calls) {
      const key = made ? "function" : "custom";
      calls[index] ??= { id, type, [key]: { name: made?.name ?? custom?.name } };
      add(calls[index][key] as Said, made ? "arguments" : "input", made?.arguments ?? custom?.input);
    }
    if (function_call) {
      message["function_call"] ??= { name: function_call.name };
      add(message["function_call"] as Said, "arguments", function_call.arguments);
    }
    finish ??= choice.finish_reason ?? undefined;
  }
  if (calls.length > 0) message["tool_calls"] = calls;
  const isCall = calls.length > 0 || "function_call" in message;
  return {
    message: { ...message, content: message["content"] === "" && isCall ? null : message["content"] },
    finish,
  };
}

const step = fc.record({
  type: fc.constantFrom<Step["type"]>("says", "thinks", "works"),
  pieces: fc.array(fc.string(), { maxLength: 4 }),
});

test("any turn gives the same answer whole, streamed and replayed", () => {
  const calls = fc.array(fc.constantFrom("find", "patch"), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), calls, fc.boolean(), (steps, called, isJson) => {
      const turn = turnOf(steps, called);
      const form = { ...FORM, isJson };
      const [choice] = completionAsPublished(
        completionOf(requestOf(turn.record), form, turn.record) as Writable<Completion>,
      ).choices;
      const { refusal: _, ...message } = choice?.message ?? {};
      const live = accumulate(framesOf(turn, form));
      // In an answer in JSON only the last piece of text counts, as long as none before it looked like JSON.
      const looksEarly = turn.record.items.some(
        (item) => item.type === "message" && /^\s*[{[]/.test(item.text),
      );
      if (!isJson || !looksEarly) expect(live).toEqual({ message, finish: choice?.finish_reason });
      const replayed = accumulate(framesOf(turn, form, "replay"));
      expect(replayed).toEqual(live);
    }),
  );
});

test("a stream begins with the role and ends with the reason, then the usage and the receipts", () => {
  const turn = turnOf(
    [
      { type: "thinks", pieces: ["Hm"] },
      { type: "says", pieces: ["Let me", " look."] },
      { type: "works", pieces: ["12"] },
      { type: "says", pieces: ["It is 12."] },
    ],
    [],
  );
  const frames = framesOf(turn).filter(isChunk);
  expect(frames.map(({ choices: [choice] }) => choice?.delta)).toEqual([
    { role: "assistant", content: "", refusal: null },
    { reasoning_content: "Hm" },
    { content: "Let me" },
    { content: " look." },
    { content: "\n\nIt is 12." },
    {},
    undefined,
  ]);
  expect(frames.map(({ choices: [choice] }) => choice?.finish_reason)).toEqual([
    ...[null, null, null, null, null],
    "stop",
    undefined,
  ]);
  expect(frames.map(({ usage }) => usage)).toEqual([
    ...[null, null, null, null, null, null],
    {
      prompt_tokens: 7,
      completion_tokens: 3,
      total_tokens: 10,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 1 },
      cost: 0.75,
      cost_details: expect.objectContaining({ total_cost_usd: "0.75" }),
    },
  ]);
  expect(frames.at(-1)?.x_postern).toEqual({
    receipts: ["receipt-2"],
    thread_id: turn.record.thread,
    turn_id: turn.record.id,
  });
  const ids = new Set(frames.map(({ id, created, model }) => JSON.stringify([id, created, model])));
  expect([...ids]).toEqual([
    JSON.stringify([`chatcmpl-${turn.record.id.replaceAll("-", "")}`, 1767225600, "gpt-5"]),
  ]);
});

test("without include_usage no chunk has a usage, and the receipts are on the last one", () => {
  const turn = turnOf([{ type: "says", pieces: ["Hello"] }], []);
  const frames = framesOf(turn, { ...FORM, includesUsage: false }).filter(isChunk);
  expect(frames.every((frame) => !("usage" in frame))).toBe(true);
  expect(frames.at(-1)).toMatchObject({ choices: [{ finish_reason: "stop" }], x_postern: { receipts: [] } });
});

test("several calls come one after the other, each with its id and name first", () => {
  const frames = framesOf(turnOf([], ["find", "patch"])).filter(isChunk);
  expect(frames.slice(1, 5).map(({ choices: [choice] }) => choice?.delta.tool_calls)).toEqual([
    [{ index: 0, id: "call_0", type: "function", function: { name: "find", arguments: "" } }],
    [{ index: 0, function: { arguments: '{"input":"of 0"}' } }],
    [{ index: 1, id: "call_1", type: "custom", custom: { name: "patch", input: "" } }],
    [{ index: 1, custom: { input: "of 1" } }],
  ]);
  expect(frames.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
});

test("the older form of a call has no id, and its own reason to finish", () => {
  const turn = turnOf([], ["find"]);
  const form = { ...FORM, isLegacy: true };
  const expected = { name: "find", arguments: '{"input":"of 0"}' };
  expect(accumulate(framesOf(turn, form))).toMatchObject({
    message: { content: null, function_call: expected },
    finish: "function_call",
  });
  const [choice] = completionOf(requestOf(turn.record), form, turn.record).choices;
  expect(choice).toMatchObject({ message: { function_call: expected }, finish_reason: "function_call" });
  expect(choice?.message).not.toHaveProperty("tool_calls");
});

test.each([
  ["max_output_tokens", "length"],
  ["content_filter", "content_filter"],
] as const)("an answer that is not whole because of %s finishes with %s", (incomplete, reason) => {
  const turn = turnOf([{ type: "says", pieces: ["Well,"] }], [], { incomplete });
  expect(accumulate(framesOf(turn))).toMatchObject({ message: { content: "Well," }, finish: reason });
  expect(completionOf(requestOf(turn.record), FORM, turn.record).choices[0]?.finish_reason).toBe(reason);
});

test("of an answer in JSON, what was said on the way is left out, and the JSON itself streams", () => {
  const steps = [
    { type: "says", pieces: ["Let me ", "look."] },
    { type: "works", pieces: [] },
    { type: "says", pieces: ['{"', 'a":', "1}"] },
  ] as const;
  const frames = framesOf(turnOf(steps, []), { ...FORM, isJson: true }).filter(isChunk);
  const contents = frames.map(({ choices: [choice] }) => choice?.delta.content);
  expect(contents.filter((content) => content)).toEqual(['{"', 'a":', "1}"]);
});

test("the sources of an answer are annotations of its message, streamed or whole", () => {
  const sources = ["https://a.example/x", "https://b.example/"].map((url) => ({ url, title: "Mills" }));
  const turn = turnOf(
    [
      { type: "works", pieces: [JSON.stringify({ sources })] },
      { type: "says", pieces: ["See https://a.", "example/x for more."] },
    ],
    [],
  );
  const cited = (url: string, start_index: number, end_index: number) => ({
    type: "url_citation",
    url_citation: { url, title: "Mills", start_index, end_index },
  });
  const expected = [cited("https://a.example/x", 4, 23), cited("https://b.example/", 33, 33)];
  const whole = completionAsPublished(
    completionOf(requestOf(turn.record), FORM, turn.record) as Writable<Completion>,
  );
  expect(whole.choices[0]?.message.annotations).toEqual(expected);
  for (const way of ["live", "replay"] as const) {
    const deltas = framesOf(turn, FORM, way)
      .filter(isChunk)
      .flatMap(({ choices }) => choices.map(({ delta }) => delta as { annotations?: unknown }));
    expect(deltas.flatMap(({ annotations }) => annotations ?? [])).toEqual(expected);
  }
});
