import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "../../../../kernel/plugin.ts";
import { CompletionBody, parseCompletion } from "../../../../plugins/responses/completions/request.ts";

const USER = { role: "user", content: "Hi" };
const call = (id: string, more: object = {}) => ({
  id,
  type: "function",
  function: { name: "find_order", arguments: "{}" },
  ...more,
});
const calling = (...ids: readonly string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => call(id)),
});
const output = (id: string) => ({ role: "tool", tool_call_id: id, content: "shipped" });
const tool = (name: string, more: object = {}) => ({
  type: "function",
  function: { name, parameters: {}, ...more },
});

const parse = (body: object) => parseCompletion({ model: "any", messages: [USER], ...body }, true);

function refusalOf(body: object): Fault {
  try {
    parse(body);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("the body was taken");
}

const talk = (...messages: readonly unknown[]) => ({ messages });

const REFUSED: readonly (readonly [title: string, param: string, body: object])[] = [
  ["a model that is missing", "model", { model: undefined }],
  ["a model that is empty", "model", { model: "" }],
  ["messages that are missing", "messages", { messages: undefined }],
  ["messages that are a text", "messages", { messages: "Hi" }],
  ["no messages", "messages", talk()],
  ["more than 10,000 messages", "messages", talk(...Array.from({ length: 10_001 }, () => USER))],
  ["a message that is a text", "messages[0]", talk("Hi")],
  ["a message of no known role", "messages[1].role", talk(USER, { role: "king", content: "Hi" })],
  ["a message of the user without content", "messages[0].content", talk({ role: "user" })],
  ["content that is an object", "messages[0].content", talk({ role: "user", content: { text: "Hi" } })],
  ["a user who says nothing", "messages", talk({ role: "user", content: "  " })],
  [
    "a user who says nothing in parts",
    "messages",
    talk({ role: "user", content: [{ type: "text", text: "" }] }),
  ],
  ["a part without a type", "messages[0].content[0].type", talk({ role: "user", content: [{ text: "Hi" }] })],
  [
    "a part of no known type",
    "messages[0].content[0].type",
    talk({ role: "user", content: [{ type: "video_url" }] }),
  ],
  [
    "a text part without text",
    "messages[0].content[0].text",
    talk({ role: "user", content: [{ type: "text" }] }),
  ],
  [
    "an image without an address",
    "messages[0].content[0].image_url.url",
    talk({ role: "user", content: [{ type: "image_url", image_url: {} }] }),
  ],
  [
    "audio in a format that is not known",
    "messages[0].content[0].input_audio.format",
    talk({ role: "user", content: [{ type: "input_audio", input_audio: { data: "AA==", format: "ogg" } }] }),
  ],
  [
    "an image in a system message",
    "messages[0].content[0].type",
    talk({ role: "system", content: [{ type: "image_url", image_url: { url: "data:," } }] }, USER),
  ],
  [
    "a conversation that ends with the assistant",
    "messages",
    talk(USER, { role: "assistant", content: "Well," }),
  ],
  ["an output without a call", "messages[1].tool_call_id", talk(USER, output("call_1"))],
  ["an output of another call", "messages[2].tool_call_id", talk(USER, calling("call_1"), output("call_2"))],
  [
    "an output that comes twice",
    "messages[3].tool_call_id",
    talk(USER, calling("call_1"), output("call_1"), output("call_1")),
  ],
  ["a call without an output", "messages[1].tool_calls", talk(USER, calling("call_1"), USER)],
  [
    "one of two calls without an output",
    "messages[1].tool_calls",
    talk(USER, calling("call_1", "call_2"), output("call_2")),
  ],
  ["two calls of one id", "messages[1].tool_calls[1].id", talk(USER, calling("call_1", "call_1"))],
  [
    "a call without an id",
    "messages[1].tool_calls[0].id",
    talk(USER, { role: "assistant", tool_calls: [{ ...call(""), id: undefined }] }),
  ],
  [
    "a call without arguments",
    "messages[1].tool_calls[0].function.arguments",
    talk(USER, { role: "assistant", tool_calls: [call("call_1", { function: { name: "f" } })] }),
  ],
  [
    "a custom call without input",
    "messages[1].tool_calls[0].custom.input",
    talk(USER, { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "f" } }] }),
  ],
  [
    "the output of a function that was not called",
    "messages[1].name",
    talk(USER, { role: "function", name: "find_order", content: "shipped" }),
  ],
  ["more than one answer", "n", { n: 2 }],
  ["the probabilities of tokens", "logprobs", { logprobs: true }],
  ["stream that is no boolean", "stream", { stream: "yes" }],
  ["stream_options that are a text", "stream_options", { stream_options: "usage" }],
  ["a temperature over 2", "temperature", { temperature: 2.1 }],
  ["a top_p over 1", "top_p", { top_p: 1.1 }],
  ["five stops", "stop", { stop: ["a", "b", "c", "d", "e"] }],
  ["a stop that is a number", "stop", { stop: 7 }],
  ["a seed with a fraction", "seed", { seed: 1.5 }],
  ["no tokens at all", "max_completion_tokens", { max_completion_tokens: 0 }],
  ["no tokens at all, in the older word", "max_tokens", { max_tokens: 0 }],
  ["audio in the answer", "modalities[1]", { modalities: ["text", "audio"] }],
  ["a voice", "audio", { audio: { voice: "alloy", format: "mp3" } }],
  ["a format of no known type", "response_format.type", { response_format: { type: "xml" } }],
  [
    "a json_schema that is missing",
    "response_format.json_schema",
    { response_format: { type: "json_schema" } },
  ],
  [
    "a json_schema without a name",
    "response_format.json_schema.name",
    { response_format: { type: "json_schema", json_schema: { schema: {} } } },
  ],
  ["tools that are an object", "tools", { tools: {} }],
  ["tools over 256 KiB", "tools", { tools: [tool("a", { description: "x".repeat(256 * 1024) })] }],
  ["a tool without a type", "tools[0].type", { tools: [{ function: { name: "a" } }] }],
  ["a tool without its function", "tools[0].function", { tools: [{ type: "function", name: "a" }] }],
  ["a tool's name with a blank", "tools[0].function.name", { tools: [tool("a b")] }],
  ["a tool's name that comes twice", "tools[1].function.name", { tools: [tool("a"), tool("a")] }],
  ["a custom tool without a name", "tools[0].custom.name", { tools: [{ type: "custom", custom: {} }] }],
  ["functions and tools together", "functions", { functions: [{ name: "a" }], tools: [tool("b")] }],
  ["a function without a name", "functions[0].name", { functions: [{}] }],
  ["a function_call without functions", "function_call", { function_call: { name: "a" } }],
  ["a function_call of no known word", "function_call", { functions: [{ name: "a" }], function_call: "any" }],
  ["a tool_choice of no known word", "tool_choice", { tool_choice: "any" }],
  ["a tool_choice of no known type", "tool_choice.type", { tool_choice: { type: "mcp" } }],
  [
    "a tool_choice without a name",
    "tool_choice.function.name",
    { tool_choice: { type: "function", function: {} } },
  ],
  [
    "allowed tools without a mode",
    "tool_choice.allowed_tools.mode",
    { tool_choice: { type: "allowed_tools", allowed_tools: { tools: [] } } },
  ],
  ["metadata that is a text", "metadata", { metadata: "x" }],
];

test.each(REFUSED)("%s is refused and names the field", (_title, param, body) => {
  const { kind, code, message, ...fault } = refusalOf(body);
  expect(fault.param).toBe(param);
  expect({ kind, code, message }).toEqual({
    kind: "invalid",
    code: expect.stringMatching(/^[a-z_]+$/),
    message: expect.stringContaining(param),
  });
});

test("without external tools, tools and functions are refused", () => {
  for (const body of [{ tools: [tool("a")] }, { functions: [{ name: "a" }] }])
    expect(() => parseCompletion({ model: "any", messages: [USER], ...body }, false)).toThrow(
      /external tools/,
    );
});

test("null is the same as nothing for every optional field", () => {
  const optional = [
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "response_format",
    "n",
    "stop",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "reasoning_effort",
    "metadata",
    "store",
    "user",
    "prompt_cache_key",
    "safety_identifier",
    "modalities",
    "audio",
    "logit_bias",
    "logprobs",
    "frequency_penalty",
    "presence_penalty",
    "prediction",
  ];
  expect(parse(Object.fromEntries(optional.map((field) => [field, null])))).toEqual(parse({}));
});

test("the first system and developer messages are instructions, later ones stay where they are", () => {
  const { request } = parse(
    talk(
      { role: "system", content: "Be brief." },
      { role: "developer", content: [{ type: "text", text: "Speak German." }] },
      USER,
      { role: "assistant", content: "Hallo" },
      { role: "system", content: "Now French." },
      USER,
    ),
  );
  expect(request.instructions).toBe("Be brief.\n\nSpeak German.");
  expect(request.items).toEqual([
    { type: "message", role: "user", text: "Hi" },
    { type: "message", role: "assistant", text: "Hallo" },
    { type: "message", role: "system", text: "Now French." },
    { type: "message", role: "user", text: "Hi" },
  ]);
});

test("where nobody else asks, the last system message does", () => {
  const alone = parse(
    talk({ role: "system", content: "Be brief." }, { role: "system", content: "Say hello." }),
  );
  expect(alone.request.instructions).toBe("Be brief.");
  expect(alone.request.items).toEqual([{ type: "message", role: "user", text: "Say hello." }]);
  const later = parse(
    talk(USER, { role: "assistant", content: "Hello" }, { role: "system", content: "And now?" }),
  );
  expect(later.request.items.at(-1)).toEqual({ type: "message", role: "user", text: "And now?" });
});

test("calls and their outputs keep their order, and an empty answer is left out", () => {
  const { request } = parse(
    talk(
      USER,
      { role: "assistant", content: "", refusal: null },
      USER,
      calling("a", "b"),
      output("b"),
      output("a"),
    ),
  );
  expect(request.items.slice(2)).toEqual([
    { type: "function_call", call: "a", name: "find_order", params: "{}" },
    { type: "function_call", call: "b", name: "find_order", params: "{}" },
    { type: "function_call_output", call: "b", output: "shipped" },
    { type: "function_call_output", call: "a", output: "shipped" },
  ]);
});

test("the older form of calls is paired by the function's name", () => {
  const older = { role: "assistant", content: null, function_call: { name: "find_order", arguments: "{}" } };
  const { request, form } = parse({
    ...talk(USER, older, { role: "function", name: "find_order", content: "shipped" }),
    functions: [{ name: "find_order", description: "Finds it" }],
    function_call: { name: "find_order" },
  });
  const [, made, told] = request.items;
  expect(made).toMatchObject({ type: "function_call", name: "find_order", params: "{}" });
  expect(told).toMatchObject({ type: "function_call_output", output: "shipped" });
  expect(told).toMatchObject({ call: (made as { call: string }).call });
  expect(form.isLegacy).toBe(true);
  expect(request.settings).toMatchObject({
    parallelCalls: false,
    toolChoice: { mode: "required", names: ["find_order"] },
  });
});

const custom = {
  type: "custom",
  custom: { name: "patch", format: { type: "grammar", grammar: { syntax: "lark", definition: "start: X" } } },
};

test("tools are taken in all forms that can be called, and the others are named", () => {
  const { request } = parse({ tools: [tool("a", { strict: true }), custom, { type: "web_search" }] });
  expect(request.tools).toEqual([
    { type: "function", name: "a", description: null, parameters: {}, strict: true },
    { type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "start: X" } },
  ]);
  expect(request.ignored).toEqual(["tools.web_search"]);
});

test.each([
  ["auto", undefined],
  ["none", "none"],
  ["required", "required"],
  [
    { type: "function", function: { name: "a" } },
    { mode: "required", names: ["a"] },
  ],
  [
    { type: "custom", custom: { name: "patch" } },
    { mode: "required", names: ["patch"] },
  ],
  [
    {
      type: "allowed_tools",
      allowed_tools: {
        mode: "auto",
        tools: [
          { type: "function", function: { name: "a" } },
          { type: "custom", custom: { name: "patch" } },
        ],
      },
    },
    { mode: "auto", names: ["a", "patch"] },
  ],
  [{ type: "allowed_tools", allowed_tools: { mode: "auto", tools: [] } }, "none"],
])("tool_choice %j", (given, choice) => {
  expect(parse({ tools: [tool("a"), custom], tool_choice: given }).request.settings.toolChoice).toEqual(
    choice,
  );
});

test("what the model is asked for is passed on", () => {
  const { request } = parse({
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    stop: "END",
    max_tokens: 10,
    max_completion_tokens: 20,
    reasoning_effort: "high",
    prompt_cache_key: "k",
    user: "ada",
    store: false,
    parallel_tool_calls: false,
    metadata: { ticket: "7" },
    response_format: {
      type: "json_schema",
      json_schema: { name: "answer", schema: { type: "object" }, strict: true },
    },
  });
  expect(request).toMatchObject({ store: false, echo: { metadata: { ticket: "7" } } });
  expect(request.settings).toMatchObject({
    temperature: 0.5,
    parallelCalls: false,
    format: { type: "json_schema", name: "answer", schema: { type: "object" }, strict: true },
    generation: {
      topP: 0.9,
      seed: 7,
      stop: ["END"],
      maxOutputTokens: 20,
      reasoningEffort: "high",
      cacheKey: "k",
      safetyIdentifier: "ada",
    },
  });
});

test("fields that ask for something that is not done are named, and those that ask for nothing are not", () => {
  const { request } = parse({
    logprobs: false,
    top_logprobs: 3,
    logit_bias: { 7: -100 },
    frequency_penalty: 0,
    presence_penalty: 1,
    prediction: { type: "content", content: "x" },
    web_search_options: {},
    service_tier: "auto",
    n: 1,
    modalities: ["text"],
    top_k: 40,
  });
  expect(request.ignored).toEqual([
    "top_logprobs",
    "logit_bias",
    "presence_penalty",
    "prediction",
    "web_search_options",
    "top_k",
  ]);
});

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => value as unknown);
const field = fc.constantFrom(...Object.keys(CompletionBody.properties));
const role = fc.constantFrom("system", "developer", "user", "assistant", "tool", "function");
const strange = fc.record(
  {
    role,
    content: json,
    tool_calls: json,
    tool_call_id: json,
    name: json,
    function_call: json,
    refusal: json,
  },
  { requiredKeys: ["role"] },
);

test("no body, however strange, is anything but taken or refused with its field", () => {
  const bodies = fc.oneof(
    fc.record({ model: fc.constant("any"), messages: fc.array(strange, { minLength: 1, maxLength: 4 }) }),
    fc
      .dictionary(field, json, { maxKeys: 4 })
      .map((fields) => ({ model: "any", messages: [USER], ...fields })),
    json,
  );
  fc.assert(
    fc.property(bodies, (body) => {
      try {
        parseCompletion(body, true);
      } catch (error) {
        expect(error).toBeInstanceOf(Fault);
        expect((error as Fault).kind).toBe("invalid");
      }
    }),
    { numRuns: 500 },
  );
});
