import { Ajv } from "ajv";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../../../plugins/models/builtin/decide.ts";
import type { ModelMessage, ModelTool } from "../../../../plugins/models/services.ts";
import { ask, NOW, onlyParams, startDialogue } from "../../../support/services/builtin-dialogue.ts";
import { everyTool, own, weather } from "../../../support/services/builtin-tools.ts";

const S = { type: "string" };
const N = { type: "number" };
const B = { type: "boolean" };
const L = { type: "array", items: S };

const ajv = new Ajv({ strict: false, formats: { email: true, date: true } });
const valid = new Map(everyTool.map((tool) => [tool.name, ajv.compile(tool.schema)]));

const phrase = fc.constantFrom(
  "weather",
  "in Berlin",
  "for New York, US",
  "tomorrow",
  "air quality",
  "lat",
  "lon",
  "52.5",
  "-13.4",
  "999",
  "order",
  "A-12",
  "convert",
  "USD",
  "to EUR",
  "send an email",
  "bob@example.com",
  "saying hi",
  "book a table",
  "for 4",
  "at 7pm",
  '"quoted"',
  "metric",
  "remember that",
  "my bike",
  "is red",
  "what",
  "?",
  "{",
  "}",
  '{"city":"Rome"}',
  "and",
  "never mind",
  "yes",
  "the first",
  "search",
  "the web",
);
const utterance = fc.oneof(
  fc.array(phrase, { maxLength: 8 }).map((parts) => parts.join(" ")),
  fc.string({ unit: "grapheme", maxLength: 200 }),
);

test("whatever is said, it ends, never throws, and every call fits its tool's schema", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(utterance, { minLength: 1, maxLength: 4 }), async (said) => {
      const dialogue = startDialogue(everyTool);
      for (const text of said) {
        const answer = await dialogue.say(text);
        expect(answer.text !== "" || answer.calls.length > 0).toBe(true);
        for (const call of answer.calls) {
          const validate = valid.get(call.name);
          expect(validate?.(JSON.parse(call.params)), `${text} → ${call.params}`).toBe(true);
        }
        if (answer.calls.length > 0) expect((await dialogue.result({ ok: true })).calls).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
});

test("whatever schema a caller declares and whatever messages came before, it answers", () => {
  const schema = fc.oneof(
    fc.object({
      key: fc.constantFrom(
        "type",
        "properties",
        "required",
        "oneOf",
        "enum",
        "items",
        "$ref",
        "pattern",
        "a",
      ),
      maxDepth: 4,
    }),
    fc.constantFrom(
      { type: "object", properties: { q: { type: "string", pattern: "^(a+)+$" } }, required: ["q"] },
      { $ref: "#/$defs/x", $defs: { x: { $ref: "#/$defs/x" } } },
      { type: "object", properties: { a: { $ref: "https://example.com/other.json" } }, required: ["a"] },
      { type: "object", properties: { a: { type: "string", pattern: "(" } }, required: ["a"] },
      true as unknown as object,
    ),
  );
  const call = fc.record({
    id: fc.string(),
    name: fc.constantFrom("weather", "odd", "memory_search"),
    params: fc.string(),
  });
  const message: fc.Arbitrary<ModelMessage> = fc.oneof(
    fc.record({ role: fc.constant("user" as const), text: utterance }),
    fc.record({
      role: fc.constant("assistant" as const),
      text: utterance,
      calls: fc.array(call, { maxLength: 2 }),
    }),
    fc.record({
      role: fc.constant("tool" as const),
      call,
      output: fc.oneof(fc.string(), fc.json()),
      failed: fc.boolean(),
    }),
  );
  fc.assert(
    fc.property(
      fc.array(schema, { maxLength: 3 }),
      fc.array(message, { maxLength: 6 }),
      (schemas, messages) => {
        const tools: ModelTool[] = schemas.map((one, at) => ({
          name: `odd_${at}`,
          description: "finds odd things",
          schema: { ...one },
        }));
        const asked: ModelMessage[] = [
          ...messages,
          { role: "user", text: "find odd_0 things aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" },
        ];
        for (const list of [messages, asked]) {
          const reply = decide({ system: "", messages: list, tools, temperature: undefined }, NOW);
          expect(reply.text !== "" || reply.calls.length > 0).toBe(true);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("a caller's tool is matched like an installed one, and an id with a pattern is found", async () => {
  const tool: ModelTool = {
    name: "refund",
    description: "Refunds an invoice",
    schema: {
      type: "object",
      properties: { invoice: { type: "string", pattern: "^INV-\\d+$" } },
      required: ["invoice"],
    },
  };
  const dialogue = startDialogue([tool]);
  expect(onlyParams(await dialogue.say("refund invoice INV-204 please"))).toEqual({ invoice: "INV-204" });
  expect(onlyParams(await startDialogue([tool]).say("a refund for INV-7"))).toEqual({ invoice: "INV-7" });
});

test.each([
  [
    "What's the weather in Bogotá, Colombia?",
    "get_weather",
    { location: S },
    { location: "Bogotá, Colombia" },
  ],
  ["What is my horoscope? I am an Aquarius.", "get_horoscope", { sign: S }, { sign: "Aquarius" }],
  ["what time is it in Europe/Berlin?", "get_current_time", { timezone: S }, { timezone: "Europe/Berlin" }],
  ["add 2 and 3", "add", { a: N, b: N }, { a: 2, b: 3 }],
  ["echo hello world", "echo", { text: S }, { text: "hello world" }],
  ["turn the kitchen lights off", "set_light", { room: S, on: B }, { room: "kitchen", on: false }],
  [
    "find flights from Oslo to Rome",
    "find_flights",
    { origin: S, destination: S },
    { origin: "Oslo", destination: "Rome" },
  ],
  ["delete the file /tmp/report.txt", "delete_file", { path: S }, { path: "/tmp/report.txt" }],
  [
    "translate good morning into German",
    "translate",
    { text: S, language: S },
    { text: "good morning", language: "German" },
  ],
  [
    "label photo a.jpg with tags sun, sea and sand",
    "label_photo",
    { photo: S, tags: L },
    { photo: "a.jpg", tags: ["sun", "sea", "sand"] },
  ],
  ["query the database: SELECT 1", "query_database", { sql: S }, { sql: "SELECT 1" }],
])(
  "a tool that a caller declares is called beside all the others: %s",
  async (request, name, properties, params) => {
    const schema = {
      type: "object",
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    };
    const answer = await startDialogue([...own, weather, { name, description: "", schema }]).say(request);
    expect(answer.calls.map((call) => call.name)).toEqual([name]);
    expect(onlyParams(answer)).toEqual(params);
  },
);

const WORST = [
  ...[
    "weather in ",
    "a",
    " ",
    "\n",
    "(",
    "1,",
    "1 ",
    "12:",
    "- ",
    "1+",
    "=",
    "?",
    "'",
    '"',
    "“",
    "{",
    '{"a":',
    "https://",
  ],
  ...[
    "<instructions>",
    "my ",
    "remember ",
    "what did i say ",
    "half an hour ",
    "a@",
    "notes/",
    "please ",
    "é",
    "👋",
  ],
];

test.each(WORST)("a megabyte of %j is answered at once, said by the user or by a tool", async (piece) => {
  const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
  const call = { id: "call", name: "web_search", params: text };
  for (const failed of [true, false]) {
    const messages: ModelMessage[] = [
      { role: "user", text },
      { role: "assistant", text, calls: [call] },
      { role: "tool", call, output: text, failed },
    ];
    expect((await ask(messages, everyTool)).text).not.toBe("");
  }
  const answer = await ask([{ role: "user", text }], everyTool);
  expect(answer.text !== "" || answer.calls.length > 0).toBe(true);
});

test("a schema that fans out is read as far as a person would, and no further", () => {
  const twice = (name: string) => ({ allOf: [{ $ref: `#/${name}` }, { $ref: `#/${name}` }] });
  const names = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x${at}`, { $ref: "#/listed" }]));
  let deep: Record<string, unknown> = { type: "string" };
  for (let depth = 0; depth < 5000; depth += 1) deep = { oneOf: [deep, deep], allOf: [deep, deep] };
  const schemas = [
    { $ref: "#/a", a: twice("b"), b: twice("c"), c: twice("a") },
    {
      oneOf: Array.from({ length: 1000 }, () => ({ $ref: "#/wide" })),
      wide: { properties: names, required: ["x0"] },
      listed: { enum: Array.from({ length: 1000 }, (_, at) => `v${at}`) },
    },
    { type: "object", properties: { a: deep }, required: ["a"] },
    deep,
  ];
  const tools = schemas.map((schema, at) => ({ name: `odd_${at}`, description: "finds odd things", schema }));
  const text = `find odd things ${"v99 ".repeat(500)}`;
  const reply = decide(
    { system: "", messages: [{ role: "user", text }], tools, temperature: undefined },
    NOW,
  );
  expect(reply.text !== "" || reply.calls.length > 0).toBe(true);
});

test("values that cannot be turned into text are left out, in outputs and in schemas", async () => {
  const odd = { toString: 1, valueOf: 1 };
  const outputs = [
    { value: 1, result: 2, from: odd, to: odd },
    { european_aqi: 1, pm2_5: 1, pm10: 1, lat: odd, aqi_label: odd },
    { city: odd, country: "X", temperature: 1, feels_like: 1, humidity: 1, wind_speed: 1, description: odd },
    { city: "X", entries: [{ temp_max: 1, date: odd }] },
    { message: odd, list: [odd, [odd]] },
  ];
  const schema = { type: "object", properties: { of: { enum: [odd, "red", "blue"] } }, required: ["of"] };
  for (const output of outputs) {
    const dialogue = startDialogue([{ name: "odd_sum", description: "", schema }]);
    expect((await dialogue.say("odd_sum")).text).toContain("I still need **of**: red or blue.");
    expect(onlyParams(await dialogue.say("blue"))).toEqual({ of: "blue" });
    expect((await dialogue.result(output)).text).not.toBe("");
    await dialogue.say("odd_sum of red");
    expect((await dialogue.result(output, { failed: true })).text).toContain("it failed");
  }
});

test("a pattern in a schema is never run", async () => {
  const schema = {
    type: "object",
    properties: { code: { type: "string", pattern: "^(a+)+$" } },
    required: ["code"],
  };
  const text = `unlock ${"a".repeat(60)}b`;
  const answer = await startDialogue([{ name: "unlock", description: "", schema }]).say(text);
  expect(onlyParams(answer)).toEqual({ code: `${"a".repeat(60)}b` });
});
