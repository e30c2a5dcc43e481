/** Calls in words: only what happened is claimed, and what is quoted stays text of one line. */
import { expect, test } from "vitest";
import { DEEDS, tellingParam } from "../../../kernel/kit/display.ts";
import { summarise } from "../../../kernel/kit/tools.ts";

const call = (params: object) => ({ name: "tool", params: JSON.stringify(params) });
const ok = (output: unknown) => ({ status: "ok", output: JSON.stringify(output) });

test("a call reads as what was done, to what, with what came of it", () => {
  const search = { did: "searched", object: ["{query}"], counts: ["results"] } as const;
  const gates = call({ query: "postern gates" });
  const text = (words: Parameters<typeof summarise>[0], ...more: [typeof gates, ...unknown[]]) =>
    summarise(words, ...(more as [typeof gates])).text;
  expect(text(search, gates)).toBe("Searching “postern gates”");
  expect(text(search, gates, ok({ results: [1, 2, 3] }))).toBe("Searched “postern gates” · 3 results");
  expect(text(search, gates, ok({ results: [1] }))).toBe("Searched “postern gates” · 1 result");
  const edit = { did: "edited", object: ["{path}"] } as const;
  const notes = call({ path: "/notes.md" });
  expect(text(edit, notes, ok({}), { added: 1, removed: 1 })).toBe("Edited notes.md · +1 −1");
  const code = { did: "ran_code", counts: ["charts", "files"] } as const;
  expect(text(code, call({ code: "1" }), ok({ charts: [{}], files: [] }))).toBe("Ran code · 1 chart");
  const move = { did: "moved", object: ["{path} → {to}"] } as const;
  expect(text(move, call({ path: "/a.md", to: "/b.md" }), ok({}))).toBe("Moved a.md → b.md");
});

test("a call that failed claims nothing, whatever it says", () => {
  const edit = { did: "edited", object: ["{path}"], counts: ["files"] } as const;
  const failed = { status: "error", output: '{"files":[1]}' };
  const summary = summarise(edit, call({ path: "/notes.md" }), failed, { added: 1, removed: 1 });
  expect(summary).toEqual({ did: "edited", object: "notes.md", text: "Could not edit notes.md" });
  for (const [done, running, failure] of Object.values(DEEDS)) {
    expect(failure, done).toMatch(/^Could not |failed$/);
    expect(running).not.toBe(done);
  }
});

test("what a model or a stranger wrote is a short line without control characters", () => {
  const search = { did: "searched", object: ["{query}"] } as const;
  const { text, object = "" } = summarise(
    search,
    call({ query: `a\n\u001b[31m\u202eb $& # ${"x".repeat(9000)}` }),
  );
  expect(object.length).toBeLessThan(100);
  expect(text).toBe(`Searching “${object}”`);
  expect(object).toMatch(/^a \\u\{1b\}\[31m\\u\{202e\}b \$& # x+…$/);
  expect(summarise(search, { name: "tool", params: "no JSON" }).text).toBe("Searching");
  expect(summarise(search, call({ query: 7 }), ok({})).text).toBe("Searched “7”");
});

test("of a tool that says nothing of itself the most telling value is shown", () => {
  expect(tellingParam(call({ limit: 3, query: "gates" }))).toBe("gates");
  expect(tellingParam(call({ first: "one", second: "two" }))).toBe("one");
  expect(tellingParam(call({ deep: { a: 1 } }))).toBe("");
  expect(tellingParam({ params: "[" })).toBe("");
});
