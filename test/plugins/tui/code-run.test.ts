/** A run of code in the history pane: its code and what came of it, with charts by name. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Gate } from "../../../kernel/plugin.ts";
import { createRenderer } from "../../../plugins/tui/screen/entry-lines.ts";
import { createPalette } from "../../../plugins/tui/text/palette.ts";

const code = "const a = 1;\n// ``` not the end\nreturn a;";
const call = { id: "c", name: "run-code", params: JSON.stringify({ code }) };
const output = JSON.stringify({
  value: { sum: 3 },
  printed: "412 rows\n\u001b[2J",
  files: [{ path: "/output/a.csv", bytes: 1200, mime: "text/csv" }],
  charts: [{ path: "/output/a.svg", title: "By month" }],
  calls: 2,
});

function linesOf(open: boolean, outcome?: { status: "ok"; output: string }): readonly string[] {
  const renderer = createRenderer(createPalette(false));
  const lines = renderer.lines({ id: 1, type: "tool", call, open, ...(outcome && { outcome }) }, 60, false);
  return lines.map(stripVTControlCharacters);
}

test("folded, it is a line of code, with the charts by their names", () => {
  const [title = "", chart] = linesOf(false, { status: "ok", output });
  expect(title).toContain("▸ run-code const a = 1; // ``` not the end return a;");
  expect(chart).toBe("    chart /output/a.svg, By month");
});

test("open, it is the code, what it printed and returned, its files, and how often it called tools", () => {
  const text = linesOf(true, { status: "ok", output }).join("\n");
  for (const line of [
    ...["const a = 1;", "// ``` not the end", "return a;", "412 rows", '"sum": 3', "/output/a.csv 1 kB"],
    ...["It called tools 2 times.", "chart /output/a.svg, By month"],
  ])
    expect(text).toContain(line);
  expect(text).toContain("\\u{1b}[2J");
  expect(text).not.toContain("params");
});

test("one that runs still says so below its code", () => {
  const text = linesOf(true).join("\n");
  expect(text).toContain("return a;");
  expect(text).toContain("still running");
});

test("at a gate a source is shown as lines, with what a terminal would act on spelled out", () => {
  const source = "export const tool = {\n  a: 1, \u001b[2J\n};";
  const params = JSON.stringify({ name: "one", source });
  const gate: Gate = {
    type: "approval",
    ...{ id: "g", turn: "t", thread: "t", openedAt: "2026-11-16T07:00:00Z" },
    ...{ call: { id: "c", name: "tool_propose", params }, grants: ["installs the tool one"] },
  };
  const renderer = createRenderer(createPalette(false));
  const text = renderer.lines({ id: 1, type: "gate", gate, shownAt: 0, choice: 0 }, 60, false).join("\n");
  expect(text).toContain('    params {"name":"one"}\n    source:\n    │ export const tool = {\n');
  expect(text).toContain("    │   a: 1, \\u{1b}[2J\n    │ };");
  // What it may do is the question, and the keys are not below the source.
  expect(text.indexOf("• installs the tool one")).toBeLessThan(text.indexOf("Once (y)"));
  expect(text.indexOf("Once (y)")).toBeLessThan(text.indexOf("source:"));
});
