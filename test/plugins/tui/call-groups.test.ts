/** Calls as one line once the answer follows, in the history pane. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { type CallWords, summarise } from "../../../kernel/kit/tools.ts";
import { withGroups } from "../../../plugins/tui/conversation/call-groups.ts";
import type { Entry } from "../../../plugins/tui/conversation/entry.ts";
import { createRenderer } from "../../../plugins/tui/screen/entry-lines.ts";
import { createPalette } from "../../../plugins/tui/text/palette.ts";

const READ: CallWords = { did: "read", object: ["{path}"] };
const SEARCHED: CallWords = { did: "searched", object: ["{query}"] };
const OK = { status: "ok", output: "{}" } as const;
const FAILED = { status: "error", code: "e", message: "No." } as const;

let id = 0;
function call(
  name: string,
  params: object,
  words?: CallWords,
  outcome: typeof OK | typeof FAILED = OK,
): Entry {
  id++;
  const made = { id: `c${id}`, name, params: JSON.stringify(params) };
  return {
    id,
    type: "tool",
    call: made,
    outcome,
    summary: words && summarise(words, made, outcome),
    open: false,
  };
}
const answer = (): Entry => ({ id: ++id, type: "answer", text: "Done." });
const read = (path: string) => call("workspace_read", { path }, READ);
const search = (query: string) => call("web-search", { query }, SEARCHED);

function linesOf(entries: readonly Entry[], isOpen = false): readonly string[] {
  const renderer = createRenderer(createPalette(false));
  const shown = withGroups(entries, () => isOpen);
  return shown.flatMap((entry) => {
    const [first = "", ...rest] = renderer.lines(entry, 80, false);
    const more = entry.type === "calls" ? rest.filter((line) => line !== "") : [];
    return [first, ...more].map((line) => stripVTControlCharacters(line).trimEnd());
  });
}

test("three calls or more are one line, in the order in which things were done, and open into a line for each", () => {
  const calls = [
    read("/a.md"),
    search("gates"),
    read("/b.md"),
    read("/b.md"),
    read("/c.md"),
    search("locks"),
  ];
  expect(linesOf([...calls, answer()])).toEqual(["  ✓ ▸ Read 3 files · searched twice  6 calls", "● Done."]);
  expect(linesOf([...calls, answer()], true)).toEqual([
    "  ✓ ▾ Read 3 files · searched twice  6 calls",
    "  ✓ ▸ Read a.md  workspace_read",
    "  ✓ ▸ Searched “gates”  web-search",
    ...["b", "b", "c"].map((name) => `  ✓ ▸ Read ${name}.md  workspace_read`),
    "  ✓ ▸ Searched “locks”  web-search",
    "● Done.",
  ]);
});

test("thoughts among them count, a single call keeps its object, and what failed is said", () => {
  const thought: Entry = { id: 900, type: "thought", text: "Hm.", millis: 3200, open: false };
  const page = { did: "read", object: ["{url}"] } as const;
  const steps = [
    ...[thought, read("/a.md"), call("acme\u001b[2J", {}), call("acme\u001b[2J", {})],
    ...[
      call("read-page", { url: "https://a.example" }, page),
      call("run-code", {}, { did: "ran_code" }, FAILED),
    ],
  ];
  expect(linesOf([...steps, answer()]).slice(0, -1)).toEqual([
    "  ! ▸ Thought for 3 s · read a.md · acme\\u{1b}[2J twice · read",
    "      https://a.example  1 failed · 5 calls",
  ]);
});

test("a group takes two lines at most", () => {
  const steps = Array.from({ length: 30 }, (_, at) => call(`acme_${at}_lookup`, {}));
  const lines = linesOf([...steps, answer()]).slice(0, -1);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^ {6}\S.*… {2}30 calls$/);
});

test("nothing is folded that runs, waits, was opened or is short", () => {
  const running: Entry = {
    ...(read("/c.md") as Extract<Entry, { type: "tool" }>),
    outcome: undefined as never,
  };
  for (const steps of [
    [read("/a.md"), read("/b.md")],
    [read("/a.md"), read("/b.md"), running],
    [read("/a.md"), read("/b.md"), { ...read("/c.md"), open: true } as Entry],
  ])
    expect(linesOf([...steps, answer()])).toHaveLength(steps.length + 1);
  expect(linesOf([read("/a.md"), read("/b.md"), read("/c.md")])).toHaveLength(3);
});
