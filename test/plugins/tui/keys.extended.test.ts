import { describe, expect, test } from "vitest";
import {
  type OpenTerminal,
  openTerminal,
  openTerminalWithModel,
  type TerminalOptions,
} from "../../support/processes/tui-terminal.ts";

const SHOWN = "\u001b[?25h";
const HIDDEN = "\u001b[?25l";

/** The composer's lines: between the hint line and the status line. */
function composer(terminal: OpenTerminal): string {
  const lines = terminal.lines();
  // Messages that were sent begin with the same mark; the composer is below them.
  const first = lines.findLastIndex((line) => line.startsWith("›"));
  return lines
    .slice(first, -1)
    .map((line) => line.slice(2))
    .join("\n");
}

async function ready(options: TerminalOptions = {}): Promise<OpenTerminal> {
  const terminal = openTerminal(options);
  await terminal.until("Type a message");
  return terminal;
}

describe("§2.1 the keys", () => {
  test("Enter sends the message and empties the composer", async () => {
    const { model, terminal } = await openTerminalWithModel();
    model.otherwise({ text: "The answer." });
    terminal.type("My question");
    await terminal.until("› My question");
    terminal.press("enter");
    await terminal.until("The answer.");
    expect(composer(terminal)).toBe("");
    expect(JSON.stringify(model.requests[0])).toContain("My question");
  });

  test.for(["altEnter", "ctrlJ"] as const)("%s makes a new line in every terminal", async (key) => {
    const terminal = await ready();
    terminal.type("one");
    terminal.press(key);
    terminal.type("two");
    await terminal.until((seen) => composer(seen) === "one\ntwo");
  });

  test("Shift+Enter makes a new line if the terminal has the Kitty keyboard protocol", async () => {
    const terminal = await ready();
    expect(terminal.output()).toContain("\u001b[>1u");
    terminal.type("one");
    terminal.press("shiftEnter");
    terminal.type("two");
    await terminal.until((seen) => composer(seen) === "one\ntwo");
  });

  test("Shift+Enter makes a new line under xterm's modifyOtherKeys too, which is asked for and reset", async () => {
    const terminal = await ready();
    expect(terminal.output()).toContain("\u001b[>4;1m");
    terminal.type("one");
    terminal.press("shiftEnterOfXterm");
    terminal.type("two");
    terminal.press("ctrlEnterOfXterm");
    terminal.type("three");
    await terminal.until((seen) => composer(seen) === "one\ntwo\nthree");
    terminal.press("ctrlC");
    await terminal.until("Ctrl+C again quits");
    terminal.press("ctrlC");
    await terminal.exited;
    expect(terminal.output().lastIndexOf("\u001b[>4m")).toBeGreaterThan(
      terminal.output().lastIndexOf("\u001b[>4;1m"),
    );
  });

  test("Ctrl+C quits: it stops the service, restores the terminal and exits with 0", async () => {
    const terminal = await ready();
    terminal.press("ctrlC");
    expect(await terminal.exited).toBe(0);
    const output = terminal.output();
    // The alternate screen and bracketed paste are off, the cursor is visible.
    expect(output.lastIndexOf("\u001b[?1049l")).toBeGreaterThan(output.lastIndexOf("\u001b[?1049h"));
    expect(output.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(output.lastIndexOf("\u001b[?2004h"));
    expect(output.lastIndexOf("\u001b[?25h")).toBeGreaterThan(output.lastIndexOf("\u001b[?25l"));
  });

  test("Ctrl+C stops the turn that runs and says what a second one stops, which quits", async () => {
    const { model, terminal } = await openTerminalWithModel();
    model.otherwise({ text: ["I begin. "], end: "stall" });
    terminal.type("Go\r");
    await terminal.until("I begin");
    terminal.press("ctrlC");
    await terminal.until("Cancelled.");
    await terminal.until("Ctrl+C again quits");
    terminal.press("ctrlC");
    expect(await terminal.exited).toBe(0);
  });

  test("Ctrl+C clears a draft, which Ctrl+P brings back; another key in between begins anew", async () => {
    const terminal = await ready();
    terminal.type("half a thought");
    await terminal.until("half a thought");
    terminal.press("ctrlC");
    await terminal.until((seen) => composer(seen) === "" && seen.text().includes("Ctrl+C again quits"));
    terminal.press("ctrlP");
    await terminal.until((seen) => composer(seen) === "half a thought");
    terminal.press("ctrlC");
    await terminal.until((seen) => composer(seen) === "");
    terminal.press("ctrlC");
    expect(await terminal.exited).toBe(0);
  });

  test("Ctrl+L clears the screen and keeps the draft", async () => {
    const terminal = await ready();
    terminal.type("half a thought");
    await terminal.until("half a thought");
    terminal.press("ctrlL");
    await terminal.until(
      (seen) => !seen.text().includes("Type a message") && composer(seen) === "half a thought",
    );
  });

  test("Esc cancels the running turn", async () => {
    const { model, terminal } = await openTerminalWithModel();
    model.otherwise({ text: ["I begin. "], end: "stall" });
    terminal.type("Go\r");
    await terminal.until("I begin");
    terminal.press("escape");
    await terminal.until("Cancelled.");
    await terminal.until("Enter to send");
  });

  test("Tab moves to a tool call, Enter opens it, Esc returns to the composer", async () => {
    const { model, terminal } = await openTerminalWithModel();
    model.script({ calls: [{ name: "clock", arguments: { zone: "UTC" } }] }, { text: "Half past nine." });
    terminal.type("What time is it?\r");
    await terminal.until("Half past nine.");
    expect(terminal.text()).toMatch(/✓ ▸ clock UTC/);
    terminal.press("tab");
    terminal.press("enter");
    await terminal.until('"time": "half past nine"');
    expect(terminal.text()).toContain("▾ clock");
    terminal.press("enter");
    await terminal.until((seen) => !seen.text().includes('"time": "half past nine"'));
    terminal.press("escape");
    // Escape followed at once by a key would read as Alt; the cursor is back once the composer has the focus.
    await terminal.until((seen) => seen.output().lastIndexOf(SHOWN) > seen.output().lastIndexOf(HIDDEN));
    terminal.type("back");
    await terminal.until((seen) => composer(seen) === "back");
  });

  test("Up and Down scroll the history, in an empty composer too; Ctrl+P and Ctrl+N recall messages", async () => {
    const { model, terminal } = await openTerminalWithModel();
    model.otherwise({ text: Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n\n`) });
    terminal.type("first question\r");
    await terminal.until("line 60");
    terminal.press("up", "up");
    await terminal.until("2 lines below");
    expect(composer(terminal)).toBe("");
    terminal.press("down", "down");
    await terminal.until((seen) => !/lines? below/.test(seen.text()));
    terminal.type("something");
    await terminal.until((seen) => composer(seen) === "something");
    terminal.press("ctrlP");
    await terminal.until((seen) => composer(seen) === "first question");
    terminal.press("ctrlN");
    await terminal.until((seen) => composer(seen) === "something");
    terminal.press("up");
    await terminal.until("1 line below");
    terminal.press("pageUp");
    await terminal.until((seen) => !seen.text().includes("line 60"));
    terminal.press("pageDown", "down");
    await terminal.until((seen) => seen.text().includes("line 60") && !/lines? below/.test(seen.text()));
    expect(composer(terminal)).toBe("something");
  });
});

describe("writing", () => {
  test("wide characters, emoji and combining marks are edited as single characters", async () => {
    const terminal = await ready();
    terminal.type("世界👩‍👩‍👧e\u0301x");
    await terminal.until((seen) => composer(seen).startsWith("世界"));
    terminal.press("left", "backspace", "backspace");
    await terminal.until((seen) => composer(seen) === "世界x");
    await terminal.until((seen) => seen.cursor().x === 2 + 4);
    terminal.press("home");
    await terminal.until((seen) => seen.cursor().x === 2);
    terminal.press("end");
    await terminal.until((seen) => seen.cursor().x === 2 + 5);
  });

  test("a paste with line breaks is text, and only Enter sends it", async () => {
    const { model, terminal } = await openTerminalWithModel();
    terminal.paste("one\ntwo\nthree");
    await terminal.until((seen) => composer(seen) === "one\ntwo\nthree");
    expect(model.requests).toEqual([]);
  });

  test("a paste of 5,000 lines is kept whole, and typing continues to work", async () => {
    const { model, terminal } = await openTerminalWithModel();
    model.otherwise({ text: "Long indeed." });
    terminal.paste(Array.from({ length: 5000 }, (_, index) => `pasted line ${index + 1}`).join("\n"));
    await terminal.until("pasted line 5000");
    terminal.type("!");
    await terminal.until("pasted line 5000!");
    terminal.press("enter");
    await terminal.until("Long indeed.");
    await terminal.until("4994 more lines");
    const sent = JSON.stringify(model.requests[0]);
    expect(sent).toContain("pasted line 1\\n");
    expect(sent).toContain("pasted line 5000!");
  });

  test("a long line wraps, and the cursor is where the next character goes", async () => {
    const terminal = await ready({ columns: 30 });
    terminal.type("x".repeat(40));
    await terminal.until((seen) => composer(seen).replace("\n", "") === "x".repeat(40));
    const { x, y } = terminal.cursor();
    terminal.type("y");
    await terminal.until((seen) => seen.lines()[y]?.[x] === "y");
  });

  test("Tab completes a command, and an unknown command is an error", async () => {
    const terminal = await ready();
    terminal.type("/mo");
    await terminal.until("list the models");
    terminal.press("tab");
    await terminal.until((seen) => composer(seen) === "/model");
    terminal.press("enter");
    await terminal.until("builtin (builtin) answers here.");
    terminal.type("/nonsense\r");
    await terminal.until("Unknown command: /nonsense");
  });
});
