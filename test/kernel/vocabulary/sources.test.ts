import { describe, expect, test } from "vitest";
import { sourcesOf } from "../../../kernel/kit/display.ts";
import type { TurnItem } from "../../../kernel/plugin.ts";
import { findSources } from "../../../kernel/vocabulary/sources.ts";

const page = (url: string, title = "A page") => JSON.stringify({ content: "…", sources: [{ url, title }] });
const found = (...urls: string[]) =>
  JSON.stringify({ results: urls.map((url) => ({ url, title: `About ${url}`, snippet: "…" })) });
const urls = (outputs: readonly string[], answer = "An answer.") =>
  findSources(outputs, answer).map(({ url }) => url);

describe("the sources of an answer", () => {
  test("are the pages that were read, each once, in their order, with title and host", () => {
    const outputs = [
      page("https://b.example/x", " Two\n lines "),
      page("https://a.example/"),
      page("https://b.example/x"),
    ];
    expect(findSources(outputs, "An answer.")).toEqual([
      { url: "https://b.example/x", title: "Two lines", host: "b.example" },
      { url: "https://a.example/", title: "A page", host: "a.example" },
    ]);
  });

  test("and of what was only found, those that the answer names", () => {
    const outputs = [found("https://a.example/", "https://b.example/"), page("https://c.example/")];
    expect(urls(outputs)).toEqual(["https://c.example/"]);
    expect(urls(outputs, "See https://b.example/ for more.")).toEqual([
      "https://c.example/",
      "https://b.example/",
    ]);
  });

  test("or the first of them, where nothing was read and none is named", () => {
    const all = Array.from({ length: 8 }, (_, at) => `https://site${at}.example/`);
    expect(urls([found(...all)])).toEqual(all.slice(0, 5));
  });

  test.each([
    ["no JSON", "sources: https://a.example/"],
    ["no list", '{"sources":"https://a.example/"}'],
    ["nothing in it", '{"sources":[null,1,{},{"url":"https://a.example/"},{"title":"x"}]}'],
    ["a script", page("javascript:alert(1)")],
    ["a file", page("file:///etc/passwd")],
    ["a line break", page("https://a.example/\nx")],
    ["a hidden host", page("https://bank.example@evil.example/")],
    ["an endless address", page(`https://a.example/${"x".repeat(3000)}`)],
  ])("are not what has %s", (_, output) => {
    expect(urls([output])).toEqual([]);
  });

  test("belong to a turn that answered, and to calls that succeeded", () => {
    const result = (status: "ok" | "error", output: string): TurnItem => ({
      type: "tool_result",
      id: "r",
      call: "c",
      outcome: status === "ok" ? { status, output } : { status, code: "x", message: output },
    });
    const said: TurnItem = { type: "message", id: "m", role: "assistant", text: "So it is." };
    const ok = result("ok", page("https://a.example/"));
    expect(sourcesOf([ok, said])).toHaveLength(1);
    expect(sourcesOf([ok])).toEqual([]);
    expect(sourcesOf([result("error", page("https://a.example/")), said])).toEqual([]);
  });
});
