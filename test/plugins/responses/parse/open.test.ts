/** What the open dialect parses a body. */
import { expect, test } from "vitest";
import { ignoredHeader, parseOpen } from "../../../../plugins/responses/parse/open.ts";
import { PREFIXES } from "../../../../plugins/responses/wire/format.ts";
import { startService } from "../../../support/services/responses.ts";

const parse = (fields: object) => parseOpen({ model: "any", input: "Hi", ...fields }, true);
const schema = { type: "object", properties: { a: { type: "string" } } };
const deep: unknown = JSON.parse("[".repeat(200_000) + "]".repeat(200_000));
const find = { type: "function", name: "find", parameters: { type: "object" } };

test("the strict dialect has the prefixes of the specification and the open one its own", () => {
  expect(PREFIXES).toEqual({ strict: ["/api/v1", "/v1"], open: ["/openai/v1"] });
});

test("a plain request has the published defaults", () => {
  const { settings, echo, ignored, store, background } = parse({});
  expect({ store, background, ignored }).toEqual({ store: true, background: false, ignored: [] });
  expect(settings).toEqual({
    callersToolsWin: true,
    parallelCalls: true,
    truncation: "disabled",
    generation: {},
  });
  expect(echo.settings).toMatchObject({
    tool_choice: "auto",
    parallel_tool_calls: true,
    text: { format: { type: "text" } },
    truncation: "disabled",
    store: true,
    service_tier: "default",
  });
});

test("settings go to the agent in its words, and are said again in the client's", () => {
  const { settings, echo } = parse({
    temperature: 0.2,
    top_p: 0.5,
    max_output_tokens: 16,
    max_tool_calls: 2,
    parallel_tool_calls: false,
    reasoning: { effort: "high", summary: "auto" },
    truncation: "auto",
    prompt_cache_key: "k",
    user: "u",
    text: { format: { type: "json_schema", name: "out", schema, strict: true }, verbosity: "low" },
  });
  expect(settings).toEqual({
    callersToolsWin: true,
    parallelCalls: false,
    truncation: "auto",
    temperature: 0.2,
    maxToolCalls: 2,
    format: { type: "json_schema", name: "out", schema, strict: true },
    generation: {
      topP: 0.5,
      maxOutputTokens: 16,
      reasoningEffort: "high",
      reasoningSummary: "auto",
      cacheKey: "k",
      safetyIdentifier: "u",
    },
  });
  expect(echo.settings).toMatchObject({
    max_output_tokens: 16,
    reasoning: { effort: "high", summary: "auto" },
    text: { format: { type: "json_schema", name: "out", schema, strict: true }, verbosity: "low" },
  });
});

test.each([
  ["auto", undefined],
  [null, undefined],
  ["none", "none"],
  ["required", "required"],
  [
    { type: "function", name: "find" },
    { mode: "required", names: ["find"] },
  ],
  [
    { type: "custom", name: "patch" },
    { mode: "required", names: ["patch"] },
  ],
  [
    { type: "function", name: "get", namespace: "crm" },
    { mode: "required", names: ["crm__get"] },
  ],
  [
    { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "find" }, { type: "mcp" }] },
    { mode: "auto", names: ["find"] },
  ],
  [{ type: "allowed_tools", mode: "required", tools: [{ type: "image_generation" }] }, "none"],
  [{ type: "web_search_preview" }, undefined],
])("tool_choice %j is %j", (tool_choice, expected) => {
  const tools = [
    find,
    { type: "custom", name: "patch" },
    { type: "namespace", name: "crm", description: "", tools: [{ ...find, name: "get" }] },
  ];
  expect(parse({ tools, tool_choice }).settings.toolChoice).toEqual(expected);
});

test("what has no effect is named: kinds of tools, choices of them, and fields", () => {
  const { tools, ignored } = parse({
    tools: [find, { type: "web_search" }, { type: "mcp", server_label: "x" }],
    tool_choice: { type: "web_search" },
    service_tier: "flex",
    presence_penalty: 1,
    text: { verbosity: "low" },
    include: ["reasoning.encrypted_content", "file_search_call.results"],
    prompt_cache_retention: "24h",
  });
  expect(tools?.map(({ name }) => name)).toEqual(["find"]);
  expect(ignored).toEqual([
    "tools.web_search",
    "tools.mcp",
    "tool_choice.web_search",
    "prompt_cache_retention",
    "presence_penalty",
    "service_tier",
    "text.verbosity",
    "include.file_search_call.results",
  ]);
  expect(ignoredHeader(["a", "a", "b\r\nset-cookie: c", "ü"])).toBe("a, b__set-cookie:_c, _");
});

test.each([
  [{ tools: [{ type: "function", name: "a b" }] }, "tools[0].name"],
  [{ tools: [find, find] }, "tools[1].name"],
  [{ tools: [find, { type: "custom", name: "find" }] }, "tools[1].name"],
  [{ tools: [{ name: "x" }] }, "tools[0].type"],
  [{ tools: [{ type: "namespace", name: "n", tools: [{ type: "function" }] }] }, "tools[0].tools[0].name"],
  [{ tools: ["x".repeat(256 * 1024)] }, "tools"],
  [{ input: Array.from({ length: 10_001 }, () => ({ role: "user", content: "a" })) }, "input"],
  [{ tool_choice: "any" }, "tool_choice"],
  [{ tool_choice: { ...find, x: "x".repeat(256 * 1024) } }, "tool_choice"],
  [{ tool_choice: { ...find, x: deep } }, "tool_choice"],
  [{ tool_choice: { type: "function" } }, "tool_choice.name"],
  [{ tool_choice: { type: "allowed_tools", tools: [] } }, "tool_choice.mode"],
  [{ text: { format: { type: "xml" } } }, "text.format.type"],
  [{ text: { format: { type: "json_schema", name: "a" } } }, "text.format.schema"],
  [{ max_output_tokens: 15 }, "max_output_tokens"],
  [{ max_tool_calls: 0 }, "max_tool_calls"],
  [{ top_p: 1.5 }, "top_p"],
  [{ metadata: { a: 1 } }, "metadata.a"],
  [{ metadata: { a: "x".repeat(513) } }, "metadata.a"],
  [{ metadata: { ["k".repeat(65)]: "x" } }, "metadata"],
  [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, ""])) }, "metadata"],
  [{ truncation: "some" }, "truncation"],
  [{ reasoning: { effort: 1 } }, "reasoning.effort"],
  [{ prompt: { id: "p" } }, "prompt"],
  [{ conversation: "c", previous_response_id: "r" }, "conversation"],
  [{ background: true, store: false }, "background"],
  [{ store: "no" }, "store"],
])("%j is refused, naming the field", (fields, param) => {
  expect(() => parse(fields)).toThrow(expect.objectContaining({ kind: "invalid", param }));
});

test("the open dialect answers at its prefix, names what it left out, and does not know a previous id that is not there", async () => {
  const service = await startService();
  const post = (fields: object) =>
    service.send("POST", "/openai/v1/responses", { model: "any", input: "Hi", ...fields });
  const tools = [{ type: "web_search" }, find];
  const answer = await post({ tools });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-postern-ignored")).toBe("tools.web_search");
  expect(await answer.json()).toMatchObject({ status: "completed", tools: [{ name: "find" }] });
  for (const previous_response_id of [`resp_${"0".repeat(64)}`, "resp_1"]) {
    const refused = await post({ previous_response_id });
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({
      error: { code: "previous_response_not_found", param: "previous_response_id" },
    });
  }
});

const additional = (...tools: unknown[]) => ({ type: "additional_tools", role: "developer", tools });
const question = { role: "user", content: "Hi" };

test("tools among the items of the input are the request's too; a later one replaces one of its name", () => {
  const exec = { type: "custom", name: "exec" };
  const input = [
    additional({ ...find, description: "Old" }, { type: "web_search" }),
    additional({ ...find, description: "New" }, { type: "namespace", name: "shell", tools: [exec] }),
    question,
  ];
  const { tools, items, ignored } = parse({ input, tools: [find, { ...find, name: "other" }] });
  expect(tools).toMatchObject([
    { type: "function", name: "other" },
    { type: "function", name: "find", description: "New" },
    { type: "namespace", name: "shell", tools: [exec] },
  ]);
  expect(items.filter(({ type }) => type !== "skipped")).toHaveLength(1);
  expect(ignored).toEqual(["tools.web_search"]);
});

test.each([
  ["no array", [{ type: "additional_tools", tools: "find" }], "input[0].tools"],
  ["a tool without a name", [additional(find, { type: "function" })], "input[0].tools[1].name"],
  ["256 KiB and more", [additional({ ...find, description: "x".repeat(256 * 1024) })], "input"],
  ["a tool that nests too deeply", [additional(find, deep)], "input"],
])("tools in the input: %s is 400 and named", (_title, given, param) => {
  expect(() => parse({ input: [...given, question] })).toThrow(expect.objectContaining({ param }));
});

test("where external tools are not wired, tools in the input are refused too", () => {
  expect(() => parseOpen({ model: "any", input: [additional(find), question] }, false)).toThrow(
    /without external tools/,
  );
});
