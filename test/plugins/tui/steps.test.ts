/** The steps to an answer in the history pane: thoughts and calls in words, with what they changed. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { summarise } from "../../../kernel/kit/tools.ts";
import type { TurnEvent, TurnItem } from "../../../kernel/plugin.ts";
import { type Entry, isStep } from "../../../plugins/tui/conversation/entry.ts";
import { createLiveTurn } from "../../../plugins/tui/conversation/live-turn.ts";
import { createTranscript } from "../../../plugins/tui/conversation/transcript.ts";
import { createRenderer } from "../../../plugins/tui/screen/entry-lines.ts";
import { createPalette } from "../../../plugins/tui/text/palette.ts";

const words = { did: "edited", object: ["{path}"] } as const;
const call = { id: "c", name: "workspace_edit", params: '{"path":"/notes.md","old":"open","new":"shut"}' };
const outcome = { status: "ok", output: '{"version":2}' } as const;
const change = { path: "/notes.md", added: 1, removed: 1, lines: ["  # Gate\u001b[2J", "- open", "+ shut"] };
const told = { summary: summarise(words, call, outcome, change), change };
const failure = { status: "error", code: "e", message: "There is no\nfile." } as const;
const failed = { call, outcome: failure, summary: summarise(words, call, failure) };

function linesOf(entry: Entry, isFocused = false, width = 80): readonly string[] {
  const lines = createRenderer(createPalette(false)).lines(entry, width, isFocused);
  return lines.map((line) => stripVTControlCharacters(line).trimEnd());
}

test("a call is a line in words, and opens into the lines it changed, with their signs", () => {
  const entry = { id: 1, type: "tool", call, outcome, millis: 12, ...told, open: false } as const;
  expect(linesOf(entry)).toEqual(["  ✓ ▸ Edited notes.md · +1 −1  workspace_edit 12 ms", ""]);
  const diff = ["    /notes.md", "      # Gate\\u{1b}[2J", "    - open", "    + shut"];
  expect(linesOf({ ...entry, open: true })).toEqual([
    "  ✓ ▾ Edited notes.md · +1 −1  workspace_edit 12 ms",
    ...diff,
    "",
  ]);
  expect(linesOf({ ...entry, open: true }, true)).toContain("    r: JSON");
  const raw = linesOf({ ...entry, open: true, isRaw: true }, true).join("\n");
  expect(raw).toContain('"path": "/notes.md"');
  expect(raw).toContain('"version": 2');
  expect(raw).not.toContain("+ shut");
});

test("a call that failed says so in one line that fits, and one that runs claims nothing yet", () => {
  const [line = ""] = linesOf({ id: 1, type: "tool", ...failed, open: false }, false, 50);
  expect(line).toBe("  ✗ ▸ Could not edit notes.md · There is no file.");
  const running = { id: 2, type: "tool", call, summary: summarise(words, call), open: false } as const;
  expect(linesOf(running)[0]).toBe("  ○ ▸ Editing notes.md  workspace_edit");
  const unknown = { ...call, name: "acme_lookup", params: '{"limit":3,"query":"gates\\u001b[2J"}' };
  expect(linesOf({ id: 3, type: "tool", call: unknown, outcome, open: false })[0]).toBe(
    "  ✓ ▸ acme_lookup gates\\u{1b}[2J",
  );
});

test("a thought is a line with its time that opens, while it runs and after a reload", () => {
  const transcript = createTranscript(() => {});
  const turn = createLiveTurn("t", "thread");
  const show = (event: object) => transcript.show(event as TurnEvent, turn);
  show({ type: "reasoning", item: "r", delta: "The **gate** " });
  show({ type: "reasoning", item: "r", delta: "is open." });
  const [entry] = transcript.entries;
  expect(linesOf(entry as Entry)).toEqual(["  ∴ ▸ Thinking", ""]);
  show({ type: "tool_started", item: "i", call, summary: summarise(words, call) });
  expect(turn.what).toBe("Editing notes.md");
  show({ type: "tool_finished", item: "i", call, outcome, millis: 12, ...told });
  expect(turn.what).toBe("thinking");
  const items: TurnItem[] = [
    { type: "reasoning", id: "r", text: "The **gate** is open.", millis: 3200 },
    { type: "tool_call", id: "k", call, external: false },
    { type: "tool_result", id: "i", call: "c", outcome, ...told },
    { type: "message", id: "m", role: "assistant", text: "Done." },
  ];
  const usage = { inputTokens: 0, outputTokens: 0, totalCost: "0" };
  const model = { provider: "openai", name: "m" };
  show({ type: "done", status: "completed", record: { items, usage, model } });
  const stored = createTranscript(() => {});
  stored.replay(items);
  for (const { entries } of [transcript, stored]) {
    const [thought, tool] = entries;
    expect(linesOf(thought as Entry)[0]).toBe("  ∴ ▸ Thought for 3 s");
    expect(linesOf({ ...(thought as Entry & { type: "thought" }), open: true })).toEqual([
      "  ∴ ▾ Thought for 3 s",
      "    The gate is open.",
      "",
    ]);
    expect(linesOf(tool as Entry)[0]).toMatch(/^ {2}✓ ▸ Edited notes\.md · \+1 −1 {2}workspace_edit/);
    expect([isStep(thought), isStep(tool)]).toEqual([true, true]);
  }
});

test("steps that follow each other stand together", () => {
  const { lines } = createRenderer(createPalette(false));
  const entry = { id: 1, type: "tool", call, outcome, open: false } as const;
  expect(lines(entry, 80, false, true)).toHaveLength(1);
  expect(lines(entry, 80, false, false)).toHaveLength(2);
});

test("the path of a file leads to the page, if there is one", () => {
  const page = (path: string) => `http://127.0.0.1:3000/#/files${encodeURI(path)}`;
  const entry = { id: 1, type: "tool", call, outcome, ...told, open: true } as const;
  const [, path = ""] = createRenderer(createPalette(false, page)).lines(entry, 80, false);
  expect(path).toContain("\u001b]8;;http://127.0.0.1:3000/#/files/notes.md\u001b\\");
  expect(path.split("\u001b]8;;\u001b\\")).toHaveLength(2);
  const answer = { id: 2, type: "answer", text: "See [the chart](/output/a.svg)." } as const;
  const [text = ""] = createRenderer(createPalette(false, page)).lines(answer, 80, false);
  expect(text).toContain("\u001b]8;;http://127.0.0.1:3000/#/files/output/a.svg\u001b\\");
  expect(linesOf(answer)[0]).toBe("● See the chart (/output/a.svg).");
  // A space cannot stand in an address of Markdown, so models escape it, as the page expects.
  const escaped = {
    id: 3,
    type: "answer",
    text: "See [it](/my%20notes.md%0a), [them](//example.com/a).",
  } as const;
  const [row = ""] = createRenderer(createPalette(false, page)).lines(escaped, 80, false);
  expect(row).toContain("\u001b]8;;http://127.0.0.1:3000/#/files/my%20notes.md%0A\u001b\\");
  expect(row.split("\u001b]8;;\u001b\\")).toHaveLength(2);
});

test("while tools are made ready, the last line says which, and nothing of it stays", () => {
  const transcript = createTranscript(() => {});
  const turn = createLiveTurn("t", "thread");
  const show = (event: object) => transcript.show(event as TurnEvent, turn);
  show({ type: "notice", code: "tools_getting_ready", message: "Preparing tools 3/5" });
  expect(turn.what).toBe("Preparing tools 3/5");
  show({ type: "notice", code: "tools_ready", message: "The tools are ready." });
  expect(turn.what).toBe("thinking");
  expect(transcript.entries).toEqual([]);
});

test("a call that waits for its tool to be prepared says so, and then that it runs", () => {
  const transcript = createTranscript(() => {});
  const turn = createLiveTurn("t", "thread");
  const show = (event: object) => transcript.show(event as TurnEvent, turn);
  show({ type: "tool_started", item: "i", call: { id: "c", name: "weather", params: "{}" } });
  const running = turn.what;
  show({ type: "notice", code: "tools_getting_ready", message: "Preparing weather", call: "c" });
  expect(turn.what).toBe("Preparing weather");
  show({ type: "notice", code: "tools_ready", message: "weather is ready.", call: "c" });
  expect(turn.what).toBe(running);
});
