import { describe, expect, test } from "vitest";
import { SCHEMA as READ } from "../../../../components/read-page/params.ts";
import { SCHEMA as SEARCH } from "../../../../components/web-search/params.ts";
import { decide } from "../../../../plugins/models/builtin/decide.ts";
import type { ModelMessage, ModelTool } from "../../../../plugins/models/services.ts";
import { NOW } from "../../../support/services/builtin-dialogue.ts";
import { convert, own, weather } from "../../../support/services/builtin-tools.ts";

const tool = (name: string, schema: object): ModelTool => ({ name, description: "", schema }) as ModelTool;
const WEB = [tool("read-page", READ), tool("web-search", SEARCH)];
const TOOLS = [weather, convert, ...WEB, ...own];

const reply = (messages: readonly ModelMessage[], tools = TOOLS) =>
  decide({ system: "", messages, tools, temperature: undefined }, NOW);
const calls = (text: string, tools = TOOLS) => reply([{ role: "user", text }], tools).calls;
const result = (name: string, output: object, wrapped = false): ModelMessage => {
  const text = JSON.stringify(output);
  const call = { id: "c", name, params: "{}" };
  return {
    role: "tool",
    call,
    output: wrapped ? `<tool-output tool="${name}">\n${text}\n</tool-output>` : text,
    failed: false,
  };
};

describe("the web, with the built-in model", () => {
  test.each([
    ["read https://a.example/x?y=1#z", { url: "https://a.example/x?y=1#z" }],
    ["https://a.example/x.", { url: "https://a.example/x" }],
    ["Please summarize https://a.example/wiki/Mill_(tidal)!", { url: "https://a.example/wiki/Mill_(tidal)" }],
    ["What is on http://127.0.0.1:8080/news?", { url: "http://127.0.0.1:8080/news" }],
    ["What does https://a.example/x say about batteries?", { url: "https://a.example/x", find: "batteries" }],
    [
      "what does https://a.example say about the evening peak",
      { url: "https://a.example", find: "the evening peak" },
    ],
  ])("%s reads the page", (text, params) => {
    expect(calls(text)).toEqual([{ name: "read-page", params }]);
  });

  test.each([
    ["look up tidal mills", "tidal mills"],
    ["Can you search the web for Nendrum?", "Nendrum"],
    ["search for weather balloons", "weather balloons"],
    ["find out about the port strike.", "the port strike"],
  ])("%s searches", (text, query) => {
    expect(calls(text)).toEqual([{ name: "web-search", params: { query } }]);
  });

  test("a result is followed by its number", () => {
    const results = [
      { title: "A", url: "https://a.example/" },
      { title: "B", url: "https://b.example/" },
    ];
    const before: readonly ModelMessage[] = [
      { role: "user", text: "look up mills" },
      { role: "assistant", text: "", calls: [{ id: "c", name: "web-search", params: "{}" }] },
      result("web-search", { results }, true),
      { role: "assistant", text: "1. …", calls: [] },
    ];
    const follow = (text: string) => reply([...before, { role: "user", text }]).calls;
    expect(follow("open the second result")).toEqual([
      { name: "read-page", params: { url: "https://b.example/" } },
    ]);
    expect(follow("Read the last link.")).toEqual([
      { name: "read-page", params: { url: "https://b.example/" } },
    ]);
    expect(follow("open the third result")).toEqual([]);
  });

  test("without the tools, and where something else is meant, it does not", () => {
    expect(calls("read https://a.example/x", [weather])).toEqual([]);
    expect(calls("remember that https://a.example/x is mine")).toMatchObject([{ name: "memory_write" }]);
    expect(calls("weather in Berlin")).toMatchObject([{ name: weather.name }]);
  });

  test("a page is told with its title, a search as a numbered list of links", () => {
    const ask: ModelMessage = { role: "user", text: "read https://a.example/" };
    const page = {
      title: "Mills",
      author: "Ada",
      published: "2026-01-02",
      content: "Text.",
      note: "It goes on: ask for page 2.",
    };
    expect(reply([ask, result("read-page", page)]).text).toBe(
      "**Mills** (Ada, 2026-01-02)\n\nText.\n\nIt goes on: ask for page 2.",
    );
    const found = {
      query: "mills",
      services: ["Wikipedia"],
      results: [{ title: "A [mill]", url: "https://a.example/", snippet: "Old" }],
      note: "More: …",
    };
    expect(reply([ask, result("web-search", found)]).text).toBe(
      "1. [A \\[mill\\]](https://a.example/): Old\n\nFound by Wikipedia. More: …",
    );
    expect(reply([ask, result("web-search", { ...found, results: [] })]).text).toContain(
      'I found nothing about "mills".',
    );
  });
});
