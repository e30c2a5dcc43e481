import { expect, test } from "vitest";
import { assertWellFormed } from "../../../host/sandbox/tool-process.ts";

const head = { method: "GET", url: "https://a", headersJson: "{}", timeoutMs: undefined, hasBody: false };
const ended = { type: "ended", call: 1, droppedLogs: 0, memoryPeakBytes: 1, secretsAsked: ["a"] };

test.each([
  { type: "log", call: 1, entry: { level: "info", message: "x".repeat(4096) } },
  { type: "http", call: 1, request: 0, head },
  {
    type: "file",
    call: 1,
    request: 0,
    head: { op: "read", path: "/a", offset: 0, length: 1, hasBody: false },
  },
  { type: "file", call: 1, request: 0, head: { op: "move", path: "/a", to: "/b", hasBody: false } },
  { ...ended, outcome: { ok: true, output: "1" } },
  { ...ended, outcome: { ok: false, code: "trap", message: "x" } },
  { type: "lost", call: 1, message: "gone" },
])("what our own code in a tool's process says is taken: %j", (message) => {
  expect(() => assertWellFormed(message as never)).not.toThrow();
});

test.each([
  { type: "log", call: 1, entry: { level: "info", message: "x".repeat(4097) } },
  { type: "log", call: 1, entry: { level: "loud", message: "x" } },
  { type: "log", call: 1, entry: { level: "info", message: { toString: 1 } } },
  { type: "log", call: 1 },
  { type: "http", call: 1, request: 0, head: { ...head, url: 1 } },
  { type: "http", call: 1, request: 0 },
  { type: "file", call: 1, request: 0, head: { op: "link", path: "/a", hasBody: false } },
  { type: "file", call: 1, request: 0, head: { op: "read", path: ["/a"], hasBody: false } },
  { type: "file", call: 1, request: 0, head: { op: "read", path: "/a", offset: -1, hasBody: false } },
  { type: "file", call: 1, request: 0, head: { op: "read", path: "/a", length: 1e30, hasBody: false } },
  { type: "file", call: 1, request: 0, head: { op: "move", path: "/a", to: 1, hasBody: false } },
  { ...ended, outcome: { ok: true, output: "x".repeat(2 ** 20 + 1) } },
  { ...ended, outcome: { ok: true, output: ["x"] } },
  { ...ended, droppedLogs: "many", outcome: { ok: true, output: "1" } },
  { ...ended, secretsAsked: Array.from({ length: 101 }, () => "a"), outcome: { ok: true, output: "1" } },
  { type: "surprise", call: 1 },
])("anything else ends the process: %j", (message) => {
  expect(() => assertWellFormed(message as never)).toThrow(TypeError);
});
