/** Whatever is thrown at the endpoint: never a 500, never a lost gate. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import { bearer, startService, TOKEN } from "../../support/services/responses.ts";

const ENVELOPE = {
  error: {
    message: expect.any(String),
    type: expect.any(String),
    code: expect.any(String),
    param: expect.anything(),
  },
};

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("Hi", "", "\u0000", "\ud800"),
);
const callId = fc.constantFrom("call_1", "call_2", "", "x");
const maybe = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof(
    { weight: 6, arbitrary: value as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.jsonValue() },
  );

const part = fc.record(
  {
    type: maybe(fc.constantFrom("input_text", "output_text", "refusal", "input_image", "input_file")),
    text: maybe(text),
    refusal: maybe(text),
    filename: maybe(text),
  },
  { requiredKeys: [] },
);
const content = maybe(fc.oneof(text, fc.array(maybe(part), { maxLength: 3 })));

const item = fc.oneof(
  fc.record({
    type: fc.constant("message"),
    role: maybe(fc.constantFrom("user", "assistant", "system", "developer")),
    content,
  }),
  fc.record({ role: fc.constantFrom("user", "assistant"), content }),
  fc.record({
    type: fc.constant("function_call"),
    call_id: callId,
    name: maybe(text),
    arguments: maybe(text),
  }),
  fc.record({ type: fc.constant("function_call_output"), call_id: callId, output: content }),
  fc.record({ type: fc.constant("item_reference"), id: text }),
  fc.record({ type: fc.constant("reasoning"), summary: fc.jsonValue() }),
);

const tool = fc.record(
  {
    type: maybe(fc.constant("function")),
    name: maybe(fc.constantFrom("find", "memory_read", "a b", "find_2")),
    description: maybe(text),
    parameters: maybe(fc.oneof(fc.constant({ type: "object" }), fc.dictionary(fc.string(), fc.jsonValue()))),
    strict: fc.jsonValue(),
  },
  { requiredKeys: ["type", "name"] },
);

const body = fc.record(
  {
    model: maybe(fc.constantFrom("any", "gpt-5", "", " x")),
    input: maybe(fc.oneof(text, fc.array(maybe(item), { maxLength: 6 }))),
    previous_response_id: maybe(fc.constantFrom(null, `resp_${"0".repeat(64)}`, "resp_1")),
    stream: maybe(fc.boolean()),
    temperature: maybe(fc.double({ min: -1, max: 3, noNaN: true })),
    instructions: maybe(text),
    x_context: maybe(fc.dictionary(fc.string(), fc.jsonValue())),
    tools: maybe(fc.array(maybe(tool), { maxLength: 3 })),
    tool_choice: fc.jsonValue(),
    metadata: fc.jsonValue(),
  },
  { requiredKeys: ["model"] },
);

test.each([
  ["any JSON", fc.jsonValue(), 60],
  ["requests of valid and random parts", body, 300],
  [
    "sequences of items",
    fc.record({ model: fc.constant("any"), input: fc.array(item, { maxLength: 8 }) }),
    200,
  ],
] as const)("%s is answered by 200 or by 400 in the envelope", async (_title, bodies, numRuns) => {
  const model = await scriptedModel();
  const service = await startService({ model, variables: { CHAT_RATE_LIMIT: "1000000" } });
  await fc.assert(
    fc.asyncProperty(bodies as fc.Arbitrary<unknown>, async (sent) => {
      const answer = await service.send("POST", "/api/v1/responses", sent);
      const words = await answer.text();
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 400) {
        const refused = JSON.parse(words) as { error: { param: unknown } };
        expect({ error: { ...refused.error, param: refused.error.param ?? "" } }).toEqual(ENVELOPE);
      } else expect(words).toMatch(/"object":"response"/);
    }),
    { numRuns },
  );
});

const openPart = fc.record(
  {
    type: maybe(fc.constantFrom("input_text", "input_image", "input_file", "input_audio", "never_heard_of")),
    text: maybe(text),
    image_url: maybe(
      fc.constantFrom("data:image/png;base64,iVBORw0KGgo=", "data:,x", "https://127.0.0.1/a.png", "x"),
    ),
    file_data: maybe(fc.constantFrom("aGk=", "data:text/plain;base64,aGk=", "?")),
    file_id: maybe(fc.constantFrom(null, "file-1")),
    filename: maybe(text),
    input_audio: maybe(
      fc.record({ data: fc.constantFrom("AAAA", "?"), format: fc.constantFrom("wav", "ogg") }),
    ),
  },
  { requiredKeys: ["type"] },
);
const openContent = maybe(fc.oneof(text, fc.array(maybe(openPart), { maxLength: 3 })));

const openItem = fc.oneof(
  item,
  fc.record({ role: maybe(fc.constantFrom("user", "assistant", "system")), content: openContent }),
  fc.record({
    type: fc.constant("custom_tool_call"),
    call_id: callId,
    name: maybe(text),
    input: maybe(text),
  }),
  fc.record({
    type: fc.constantFrom("function_call_output", "custom_tool_call_output"),
    call_id: callId,
    output: openContent,
  }),
  fc.record({ type: fc.constantFrom("reasoning", "compaction"), encrypted_content: maybe(text) }),
  fc.record({ type: maybe(fc.constantFrom("web_search_call", "local_shell_call", "never_heard_of")) }),
);

const openTool = fc.oneof(
  tool,
  fc.record({
    type: fc.constant("custom"),
    name: maybe(fc.constantFrom("patch", "find")),
    format: fc.jsonValue(),
  }),
  fc.record({
    type: fc.constant("namespace"),
    name: maybe(text),
    tools: maybe(fc.array(maybe(tool), { maxLength: 2 })),
  }),
  fc.record({ type: maybe(fc.constantFrom("web_search", "mcp")) }),
);

const openBody = fc.record(
  {
    model: fc.constant("any"),
    input: maybe(fc.oneof(text, fc.array(maybe(openItem), { maxLength: 6 }))),
    previous_response_id: maybe(fc.constantFrom(null, `resp_${"0".repeat(64)}`, "resp_1")),
    conversation: maybe(fc.constantFrom(null, "conv_1")),
    store: maybe(fc.boolean()),
    background: maybe(fc.boolean()),
    tools: maybe(fc.array(maybe(openTool), { maxLength: 3 })),
    tool_choice: maybe(
      fc.constantFrom(
        "auto",
        "none",
        "required",
        { type: "function", name: "find" },
        { type: "allowed_tools" },
      ),
    ),
    text: maybe(fc.constantFrom({ format: { type: "json_object" } }, { format: { type: "json_schema" } })),
    reasoning: maybe(fc.record({ effort: maybe(fc.constantFrom("low", "high")) })),
    max_output_tokens: maybe(fc.integer({ min: 0, max: 100 })),
    metadata: maybe(fc.dictionary(fc.string(), text)),
    include: maybe(fc.array(text, { maxLength: 2 })),
    truncation: maybe(fc.constantFrom("auto", "disabled")),
  },
  { requiredKeys: ["model"] },
);

test.each([
  ["requests of valid and random parts", openBody, 200],
  [
    "sequences of items",
    fc.record({ model: fc.constant("any"), input: fc.array(openItem, { maxLength: 8 }) }),
    150,
  ],
] as const)("in the open dialect %s are answered by 200, 400 or 404", async (_title, bodies, numRuns) => {
  const model = await scriptedModel();
  const service = await startService({ model, variables: { CHAT_RATE_LIMIT: "1000000" } });
  await fc.assert(
    fc.asyncProperty(bodies as fc.Arbitrary<unknown>, async (sent) => {
      const answer = await service.send("POST", "/openai/v1/responses", sent);
      const words = await answer.text();
      expect([answer.status, [200, 400, 404].includes(answer.status) ? "" : words]).toEqual([
        answer.status,
        "",
      ]);
      if (answer.status === 200) expect(words).toMatch(/"object":"response"/);
      else expect(JSON.parse(words)).toMatchObject({ error: { message: expect.any(String) } });
    }),
    { numRuns },
  );
});

test("§3.2 whatever sequence of requests comes, the gate is exactly where it should be", async () => {
  const model = await scriptedModel();
  let calls = 0;
  model.otherwise(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "user" && String(last.content).includes("call")
      ? { calls: [{ id: `call_${++calls}`, name: "find", arguments: {} }] }
      : { text: "done" };
  });
  const service = await startService({ model, variables: { CHAT_RATE_LIMIT: "1000000" } });
  const stranger = bearer(await service.tokenOf("mallory"));
  const gates = service.kernel.service("toolCalls");
  const tools = [{ type: "function", name: "find", parameters: { type: "object" } }];
  const actions = [
    "talk",
    "call",
    "answer",
    "wrong",
    "empty",
    "none",
    "mixed",
    "double",
    "stranger",
    "alone",
  ] as const;

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...actions), { minLength: 1, maxLength: 10 }),
      async (sequence) => {
        let { id } = await service.create({ input: "Begin", tools });
        const hex = id.slice(-32);
        const thread = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
        let pending: string | undefined;
        for (const action of sequence) {
          const right = { type: "function_call_output", call_id: pending ?? "call_none", output: "found" };
          const inputs: Record<(typeof actions)[number], unknown> = {
            talk: "talk",
            call: "please call",
            answer: [right],
            wrong: [{ ...right, call_id: "call_wrong" }],
            empty: [{ ...right, call_id: "" }],
            none: [{ type: "function_call_output", call_id: right.call_id }],
            mixed: [right, { role: "user", content: "and more" }],
            double: [right, right],
            stranger: [right],
            alone: [right],
          };
          const answer = await service.send(
            "POST",
            "/api/v1/responses",
            {
              model: "any",
              tools,
              input: inputs[action],
              ...(action !== "alone" && { previous_response_id: id }),
            },
            action === "stranger" ? stranger : {},
          );
          const goesOn =
            action === "answer"
              ? pending !== undefined
              : (action === "talk" || action === "call") && pending === undefined;
          expect([action, answer.status]).toEqual([action, goesOn || action === "stranger" ? 200 : 400]);
          const given = (await answer.json()) as {
            id: string;
            status: string;
            output: { call_id?: string }[];
          };
          if (action === "stranger") expect(given.status).toBe("failed");
          if (goesOn) {
            id = given.id;
            pending = given.output.at(-1)?.call_id;
            expect(pending !== undefined).toBe(action === "call");
          }
          expect((await gates.pending("operator", thread))?.call.id).toBe(pending);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("JSON that nests a hundred thousand deep is no bug of ours, wherever it stands", async () => {
  const service = await startService();
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  for (const field of ["input", "metadata", "x_context", "tools", "never_heard_of", "instructions"]) {
    for (const value of [
      deep,
      `{"a":${deep}}`,
      `[{"type":"function","name":"a","parameters":{"a":${deep}}}]`,
    ]) {
      const rest = field === "input" ? "" : ',"input":"Hello"';
      const answer = await fetch(`${service.url}/api/v1/responses`, {
        method: "POST",
        body: `{"model":"any"${rest},"${field}":${value}}`,
        headers: {
          ...bearer(TOKEN),
          "content-type": "application/json",
          "idempotency-key": "k",
        },
      });
      expect([200, 400]).toContain(answer.status);
      await answer.text();
    }
  }
});
