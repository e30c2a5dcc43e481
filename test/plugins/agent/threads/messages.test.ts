import fc from "fast-check";
import { expect, test } from "vitest";
import { createMask } from "../../../../kernel/mask/mask.ts";
import type { ToolCall, TurnItem } from "../../../../kernel/plugin.ts";
import type { RenderedMessage } from "../../../../plugins/agent/threads/tokens.ts";
import { renderItems, withoutResult } from "../../../../plugins/agent/threads/turns/messages.ts";

const SHOW = { mask: createMask(), trusted: new Set(["skill_load"]) };
const PLAIN = { instructions: undefined, context: undefined };

const call = (id: string, name = "tool"): ToolCall => ({ id, name, params: "{}" });
const called = (id: string, name?: string): TurnItem => ({
  type: "tool_call",
  id: `item-${id}`,
  call: call(id, name),
  external: false,
});
const result = (id: string, output = id): TurnItem => ({
  type: "tool_result",
  id: `result-${id}`,
  call: id,
  outcome: { status: "ok", output },
});
const said = (role: "user" | "assistant", text: string): TurnItem => ({
  type: "message",
  id: text,
  role,
  text,
});

/** What every provider demands: each call is followed by its result before anything else is said. */
function assertWellFormed(messages: readonly RenderedMessage[]): void {
  let waiting: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      expect(waiting).toContain(message.call.id);
      waiting = waiting.filter((id) => id !== message.call.id);
    } else {
      expect(waiting).toEqual([]);
      if (message.role === "assistant") waiting = message.calls.map(({ id }) => id);
    }
  }
  expect(waiting).toEqual([]);
}

test("a thought goes with the answer it was thought for, be it text or calls", () => {
  const thought = (text: string): TurnItem => ({ type: "reasoning", id: text, text });
  const items = [
    said("user", "go"),
    thought("Look first."),
    called("a"),
    result("a"),
    thought("Now say it."),
    said("assistant", "done"),
    said("assistant", "really"),
  ];
  const { messages } = renderItems(items, PLAIN, [], SHOW);
  expect(messages.map((message) => ("reasoning" in message ? message.reasoning : message.role))).toEqual([
    "user",
    "Look first.",
    "tool",
    "Now say it.",
    "assistant",
  ]);
});

test("results are told in the order of their calls, whichever ended first", () => {
  const items = [
    said("user", "go"),
    said("assistant", "ok"),
    called("a"),
    called("b"),
    result("b"),
    result("a"),
  ];
  const { messages, open } = renderItems(items, PLAIN, [], SHOW);
  expect(open).toEqual([]);
  expect(messages.map((message) => (message.role === "tool" ? message.call.id : message.role))).toEqual([
    "user",
    "assistant",
    "a",
    "b",
  ]);
});

test("a result that never came is said to be missing, before the next word", () => {
  const { messages } = renderItems([called("a"), said("user", "hello?")], PLAIN, [], SHOW);
  expect(messages[1]).toMatchObject({
    role: "tool",
    failed: true,
    output: expect.stringContaining("no result"),
  });
});

test("a result of the next turn finds its call in the one before", () => {
  const first = renderItems([said("user", "go"), called("a")], PLAIN, [], SHOW);
  expect(first.open).toEqual([call("a")]);
  const second = renderItems([result("a"), said("assistant", "done")], PLAIN, first.open, SHOW);
  assertWellFormed([...first.messages, ...second.messages]);
});

test("only own tools that are meant to be followed go unwrapped", () => {
  const items = [called("a", "skill_load"), result("a"), called("b", "skill_fake"), result("b")];
  const outputs = renderItems(items, PLAIN, [], SHOW).messages.flatMap((message) =>
    message.role === "tool" ? [message.output] : [],
  );
  expect(outputs[0]).toBe("a");
  expect(outputs[1]).toContain("<tool-output");
});

test("whatever was stored, and wherever a turn broke off, what a model gets is well-formed", () => {
  const id = fc.constantFrom("a", "b", "c");
  const item = fc.oneof(
    fc.constant(said("user", "u")),
    fc.constant(said("assistant", "t")),
    id.map((name) => called(name)),
    id.map((name) => result(name)),
  );
  fc.assert(
    fc.property(fc.array(fc.array(item, { maxLength: 8 }), { maxLength: 4 }), (turns) => {
      const messages: RenderedMessage[] = [];
      let open: readonly ToolCall[] = [];
      for (const items of turns) {
        // A model never gives two calls of one answer the same id; the loop sees to it.
        const rendered = renderItems(unique(items), PLAIN, open, SHOW);
        messages.push(...rendered.messages);
        open = rendered.open;
      }
      assertWellFormed([...messages, ...withoutResult(open)]);
    }),
  );
});

function unique(items: readonly TurnItem[]): readonly TurnItem[] {
  let seen = new Set<string>();
  return items.filter((item) => {
    if (item.type === "message") seen = new Set();
    if (item.type !== "tool_call") return true;
    if (seen.has(item.call.id)) return false;
    seen.add(item.call.id);
    return true;
  });
}
