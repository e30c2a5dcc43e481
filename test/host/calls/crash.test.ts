/** What the engines print, word for word, and what is made of it. */
import { expect, test } from "vitest";
import { tellOnce } from "../../../host/author/trace/located.ts";
import { readable, readBuildCrash, renderCrash } from "../../../host/calls/crash.ts";

const RECEIPT = {
  id: "1",
  at: "2026-11-15T12:00:00.000Z",
  tool: "sinker",
  digest: "",
  user: "author",
  millis: 1,
  status: "error",
  requests: [],
  credentials: [],
  memoryPeak: 0,
  logsDropped: 0,
} as const;

const warn = (message: string) => ({ level: "warn", message });

/** As the pool answers it: every line is in the log and in the message. */
function crashed(printed: string, before: readonly { level: string; message: string }[] = []) {
  const logs = [...before, ...printed.split("\n").map(warn)];
  return { ok: false, code: "threw", message: `The tool threw: ${printed}`, logs };
}

const SPIDERMONKEY = `the bottom
of it
Stack:
  deep@bundle.js:4:11
  execute/<@bundle.js:33:44
  async*execute@bundle.js:33:29
  export_tool_0_1_0$execute@/tmp/87ee587a22e6/sources/initializer.js:316:15
Caused by: another
Stack:
  @bundle.js line 18 > eval:1:1
  @bundle.js:1:2
Redirecting call to abort() to mozalloc_abort`;

const quickJs = (what: string) => `thread '<unnamed>' (1) panicked at crates/runtime/src/interpreter.rs:51:31:
Failed to call 'execute': ${what}
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace`;

const QUICKJS = quickJs(
  String.raw`Exception(Exception { message: Some("a \"b\"\n\u{1f389} \\n"), stack: Some("    at deep (componentize-qjs:user.js:27:15)\n    at <input>:1:2\n    at <anonymous> (componentize-qjs:user.js:56:45)\n    at map (native)\n") })`,
);

test("SpiderMonkey's words become the error, its place and the trace", () => {
  const before = [warn("earlier"), { level: "info", message: "own" }];
  expect(readable(crashed(SPIDERMONKEY, before))).toEqual({
    ok: false,
    code: "threw",
    message: "The tool threw: the bottom\nof it (bundle.js:4:11)",
    logs: [
      ...before,
      {
        level: "error",
        message: `the bottom
of it
    at deep (bundle.js:4:11)
    at bundle.js:33:44
    at async execute (bundle.js:33:29)
Caused by: another
    at bundle.js:1:2`,
      },
    ],
  });
});

test("QuickJS's words become the same", () => {
  const { message, logs } = readable(crashed(QUICKJS));
  expect(message).toBe('The tool threw: a "b"\n🎉 \\n (bundle.js:27:15)');
  expect(logs).toEqual([
    { level: "error", message: 'a "b"\n🎉 \\n\n    at deep (bundle.js:27:15)\n    at bundle.js:56:45' },
  ]);
});

test.each([
  ['"just text"\nRedirecting call to abort() to mozalloc_abort', '"just text"'],
  [quickJs('Value(String(Ok("just (text)")))'), '"just (text)"'],
  [quickJs("Value(Int(5))"), "Int(5)"],
  [
    `thread '<unnamed>' (1) panicked at crates/runtime/src/call.rs:119:33:
expected string: FromJs { from: "int", to: "string", message: None }
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace`,
    "expected a string, received [int]",
  ],
])("what was thrown without a stack is said without one: %j", (printed, said) => {
  expect(readable(crashed(printed))).toMatchObject({ message: `The tool threw: ${said}`, logs: [] });
});

test("where the log was full, the message is read", () => {
  const full = { ...crashed(SPIDERMONKEY), logs: [{ level: "info", message: "full" }] };
  expect(readable(full)).toMatchObject({
    message: "The tool threw: the bottom\nof it (bundle.js:4:11)",
    logs: [{ level: "info", message: "full" }, { level: "error" }],
  });
});

test("a terminal shows a trace or a panic once, and every other line", () => {
  const own = { level: "info", message: "own" } as const;
  const tell = (code: string, message: string, last: string) =>
    tellOnce({ ...RECEIPT, code, message, logs: [own, { level: "error", message: last }] });
  expect(tell("threw", "The tool threw: x (tool.ts:1:2)", "x\n    at tool.ts:1:2")).toEqual({
    message: "The tool threw: x\n    at tool.ts:1:2",
    logs: [own],
  });
  const panic = "panicked at src/lib.rs:29:5:\nthe worst happened";
  expect(tell("threw", `The tool threw: ${panic}`, panic)).toEqual({
    message: `The tool threw: ${panic}`,
    logs: [own],
  });
  expect(tell("threw", "The tool threw: x", "its own").logs).toHaveLength(2);
  expect(tell("tool_error", "x", "x").logs).toHaveLength(2);
});

test("a missing name is said with what a tool has instead", () => {
  const printed = `process is not defined
Stack:
  execute@bundle.js:1:2
Redirecting call to abort() to mozalloc_abort`;
  expect(readable(crashed(printed)).message).toMatch(
    /^The tool threw: process is not defined: a tool has no process .* \(bundle\.js:1:2\)$/,
  );
  expect(readable(crashed(printed.replace("process", "constructor"))).message).toBe(
    "The tool threw: constructor is not defined (bundle.js:1:2)",
  );
});

test("what other languages print, other failures and answers stay as they are", () => {
  for (const outcome of [
    crashed("panicked at src/lib.rs:29:5:\nthe worst happened"),
    crashed("thread '<unnamed>' (1) panicked at src/lib.rs:29:5:\nthe worst happened"),
    { ...crashed(SPIDERMONKEY), code: "trap" },
    { ok: true, logs: [warn("Redirecting call to abort() to mozalloc_abort")] },
  ])
    expect(readable(outcome)).toBe(outcome);
});

test("a script's top level that throws is read from what either build says, without what the build added", () => {
  const spiderMonkey = `Failed to initialize component (wizer (/x/wizer)):
hello top
Exception while evaluating top-level script
t-nbP280/bundle.js:3:9 TypeError: no such
t-nbP280/bundle.js:3:9 luck
Additionally, some promises were rejected, but the rejection never handled:
Promise rejected but never handled: no such
luck
Stack:
  posternFetch@t-nbP280/bundle.js:1:1
  start@t-nbP280/bundle.js:3:9
  @t-nbP280/bundle.js:5:5`;
  const quick = `: Failed to evaluate user JavaScript module: Failed to finish JavaScript module evaluation: Error: no such
luck
    at start (componentize-qjs:user.js:3:13)
    at map (native)
    at <anonymous> (componentize-qjs:user.js:5:9)
`;
  const rendered = [spiderMonkey, quick].map((said) => {
    const crash = readBuildCrash(said);
    return crash && renderCrash(crash);
  });
  expect(rendered).toEqual([
    "TypeError: no such\nluck\n    at start (bundle.js:3:9)\n    at bundle.js:5:5",
    "Error: no such\nluck\n    at start (bundle.js:3:13)\n    at bundle.js:5:9",
  ]);
  expect(readBuildCrash("wizer: out of disk")).toBeUndefined();
});

test.each([
  ["'", "thread ' ' panicked at "],
  [")", quickJs(`Value(${")".repeat(4000)}x`)],
  ["\\", quickJs(`Exception(Exception { message: Some("${"\\".repeat(4000)}`)],
  [":1", `x\nStack:\n  a@b${":1".repeat(2000)}x\nRedirecting call to abort() to mozalloc_abort`],
  [" (", quickJs(`Exception(Exception { message: Some("x"), stack: Some("    at${" (".repeat(2000)}`)],
])("a log full of %j is read within the test's time, and what comes of it is short", (_, line) => {
  const logs = Array.from({ length: 1000 }, () => warn(line.padEnd(4000, "' "))).concat(
    line.split("\n").map(warn),
  );
  const { message, logs: kept } = readable({ ok: false, code: "threw", message: "The tool threw: x", logs });
  expect(message.length).toBeLessThan(5000);
  expect(kept.length).toBeLessThanOrEqual(logs.length);
});
