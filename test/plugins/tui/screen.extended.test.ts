import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

const ESC = "\u001b";

test("the first screen says what answers, where the page is and what to try; /status shows every plugin", async () => {
  const { terminal } = await openTerminalWithModel({
    columns: 120,
    rows: 30,
    env: { GATEWAY_ENABLED: "true" },
  });
  await terminal.until((seen) => /Open http:/.test(seen.text()));
  expect(terminal.lines().slice(0, 6)).toEqual([
    expect.stringMatching(/^ {2}Postern \S+ · scripted answers$/),
    "",
    expect.stringMatching(/^ {2}Open http/),
    "",
    "  Type a message, or /help. /status shows what runs here. For example:",
    "",
  ]);
  expect(terminal.lines().filter((line) => line.startsWith("  • "))).toHaveLength(3);
  terminal.type("/status\r");
  await terminal.until((seen) => /gateway +│ on +│ http:\/\/127\.0\.0\.1:\d+/.test(seen.text()));
  await terminal.until("› /status");
  const text = terminal.text();
  expect(text).toMatch(/Open http:\/\/127\.0\.0\.1:\d+\/\?token=/);
  expect(terminal.lines().at(-1)).toBe("scripted · new thread");
});

test("an answer streams in as Markdown, with a spinner and elapsed time, then its token count", async () => {
  const { model, terminal } = await openTerminalWithModel({ columns: 120 });
  const { promise: rest, resolve: goOn } = Promise.withResolvers<string>();
  model.otherwise({
    text: ["# Title\n\nSome **bold", "** and `code`.\n\n- one\n- two\n\n```js\nlet x", rest],
    usage: { input: 1200, output: 34 },
  });
  terminal.type("Go\r");
  await terminal.until("Esc to cancel");
  await terminal.until((seen) => /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] (thinking|writing) \d/.test(seen.text()));
  goOn(" = 1;\n```\n");
  await terminal.until("│ let x = 1;");
  const text = terminal.text();
  expect(text).toContain("Some bold and code.");
  expect(text).toContain("• two");
  await terminal.until("Enter to send");
  await terminal.until("1.2k tokens");
  expect(terminal.lines().at(-1)).toMatch(/^scripted · context \S+ · Go · 1\.2k tokens/);
});

test("an approval is asked for in the history, and approving continues the turn", async () => {
  const { model, terminal } = await openTerminalWithModel();
  model.script({ calls: [{ name: "post", arguments: { text: "hi" } }] }, { text: "Posted it." });
  terminal.type("Post hi\r");
  await terminal.until("post needs your approval.");
  const text = terminal.text();
  expect(text).toContain('params {"text":"hi"}');
  expect(text).toContain("• may write to https://post.example/");
  await terminal.until("Once (y)");
  // Enter alone would deny: Deny is preselected.
  terminal.press("right", "right", "left", "enter");
  await terminal.until("Posted it.");
  expect(terminal.text()).toContain("✓ ▸ post");
  terminal.press("tab", "enter");
  // Escape sequences in a tool's output do not reach the terminal.
  await terminal.until("posted \\u{1b}[2J\\u{1b}[31mred");
});

test("the model is informed when an approval is denied", async () => {
  const { model, terminal } = await openTerminalWithModel();
  model.script({ calls: [{ name: "post", arguments: {} }] }, { text: "Then not." });
  terminal.type("Post\r");
  await terminal.until("Deny (n)");
  terminal.press("enter");
  await terminal.until("Then not.");
  expect(JSON.stringify(model.requests.at(-1))).toMatch(/den/i);
});

test("a tool without its credential shows what to run, and can be denied", async () => {
  const { model, terminal } = await openTerminalWithModel();
  model.script({ calls: [{ name: "mail", arguments: {} }] }, { text: "No mail then." });
  terminal.type("Mail\r");
  await terminal.until("mail needs a credential: run postern tool auth mail");
  await terminal.until("Retry (r)");
  terminal.press("enter");
  await terminal.until("No mail then.");
});

test("slash commands show their results in the history", async () => {
  const { model, terminal } = await openTerminalWithModel({ rows: 40 });
  model.otherwise({ text: "An answer to keep." });
  const run = async (command: string, sight: Parameters<typeof terminal.until>[0]) => {
    terminal.type(command);
    await terminal.until(`› ${command}`);
    terminal.press("enter");
    await terminal.until(sight);
  };
  await run("A first thread", "An answer to keep.");
  await run("/tools", "may read https://clock.example/");
  await terminal.until("old 1.0.0 (switched off)");
  await run("/jobs", "No jobs.");
  await run("/tasks", "Nothing was delegated.");
  await run("/memory", "Memory is empty.");
  await run("/cancel", "Nothing is running.");
  await run("/new", "New thread.");
  expect(terminal.text()).not.toContain("An answer to keep.");
  await run("/threads", (seen) => /1\. A first thread — .+, 1 turn/.test(seen.text()));
  await run("/threads zebra", "No matching threads.");
  await run("/threads 1", "An answer to keep.");
  await run("/quit", "");
  expect(await terminal.exited).toBe(0);
});

test("a failed turn shows why and what to do", async () => {
  const { model, terminal } = await openTerminalWithModel();
  model.otherwise({ status: 401 });
  terminal.type("Go\r");
  await terminal.until("✗ ");
  await terminal.until("Ctrl+P brings your message back");
});

test("a resize during streaming leaves no garbage", async () => {
  const { model, terminal } = await openTerminalWithModel({ columns: 100, rows: 30 });
  const words = Array.from({ length: 120 }, (_, index) => `word${index} `);
  const [narrow, wide] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  model.otherwise({ text: [...words.slice(0, 21), narrow.promise, wide.promise] });
  terminal.type("Go\r");
  await terminal.until("word20");
  terminal.resize(60, 20);
  narrow.resolve(words.slice(21, 61).join(""));
  await terminal.until("word60");
  terminal.resize(110, 35);
  wide.resolve(words.slice(61).join(""));
  await terminal.until("word119");
  await terminal.until("Enter to send");
  const lines = terminal.lines();
  expect(lines).toHaveLength(35);
  expect(lines.filter((line) => line.startsWith("Enter to send"))).toHaveLength(1);
  // The status line, and what the turn took.
  expect(lines.filter((line) => line.includes("scripted ·"))).toHaveLength(2);
  const said = lines.join(" ").match(/word\d+/g) ?? [];
  expect(said).toEqual(words.map((word) => word.trim()));
});

test.for([
  [20, 6],
  [12, 4],
] as const)("a terminal of %s by %s still takes a message and shows its answer", async ([columns, rows]) => {
  const { model, terminal } = await openTerminalWithModel({ columns, rows, firstSight: "›" });
  model.otherwise({ text: "Fine." });
  terminal.type("Hi");
  await terminal.until("› Hi");
  terminal.press("enter");
  await terminal.until("Fine.");
  expect(terminal.lines()).toHaveLength(rows);
});

test("only the sixteen colours are used, and none with NO_COLOR", async () => {
  const coloured = await openTerminalWithModel();
  expect(coloured.terminal.output()).toMatch(new RegExp(`${ESC}\\[(3|9)\\dm`));
  expect(coloured.terminal.output()).not.toMatch(new RegExp(`${ESC}\\[[0-9;]*38;`));
  const { model, terminal } = await openTerminalWithModel({ env: { NO_COLOR: "1" } });
  model.otherwise({ text: "# Plain\n\n`code`" });
  terminal.type("Go\r");
  await terminal.until("Plain");
  await terminal.until("Enter to send");
  expect(terminal.output()).not.toMatch(new RegExp(`${ESC}\\[(3[0-8]|9[0-7])(;\\d+)*m`));
});

test("streaming redraws only changed lines", async () => {
  // Tall enough that nothing scrolls: a screen that scrolls is redrawn.
  const { model, terminal } = await openTerminalWithModel({ rows: 50 });
  const begun = Promise.withResolvers<string>();
  const words = Array.from({ length: 50 }, (_, index) => `word${index} `);
  model.otherwise({ text: [...words.slice(0, 6), begun.promise, ...words.slice(7)], delay: 5 });
  terminal.type("Go\r");
  await terminal.until("word5");
  const before = terminal.output().length;
  begun.resolve("word6 ");
  await terminal.until("word49");
  const streamed = terminal.output().slice(before);
  expect(streamed).not.toContain("\u001b[2J");
  expect(streamed).not.toContain("\u001b[3J");
  expect(streamed).not.toContain("Type a message");
});

test("scrolling and typing work with 10,000 lines of history", async () => {
  const { model, terminal } = await openTerminalWithModel();
  const page = Array.from({ length: 2500 }, (_, index) => `row ${index}\n\n`).join("");
  for (let turn = 1; turn <= 2; turn++) {
    model.script({ text: [page, `end of turn ${turn}`] });
    terminal.type(`turn ${turn}\r`);
    await terminal.until(`end of turn ${turn}`);
    await terminal.until("Enter to send");
  }
  for (let page = 0; page < 20; page++) terminal.press("pageUp");
  await terminal.until((seen) => /\d{3} lines below/.test(seen.text()));
  terminal.type("still here");
  await terminal.until("› still here");
});

test("log lines go to the file, never over the screen", async () => {
  const { model, terminal } = await openTerminalWithModel({ env: { LOG_LEVEL: "debug" } });
  model.otherwise({ status: 500 });
  terminal.type("Go\r");
  await terminal.until("✗ ");
  terminal.press("ctrlC");
  await terminal.exited;
  expect(terminal.output()).not.toContain('"level":');
  expect(readFileSync(join(terminal.home, "logs", "postern.log"), "utf8")).toContain('"level":');
});
