/** The list of sources below an answer in the terminal. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Gate, ToolOutcome, TurnItem } from "../../../kernel/plugin.ts";
import { createTranscript } from "../../../plugins/tui/conversation/transcript.ts";
import { createRenderer } from "../../../plugins/tui/screen/entry-lines.ts";
import { createPalette } from "../../../plugins/tui/text/palette.ts";

const ENDED = {
  model: { provider: "test", name: "test" },
  usage: { inputTokens: 1, outputTokens: 1 },
} as never;

function reading(id: string, url: string, title: string): readonly TurnItem[] {
  const outcome: ToolOutcome = { status: "ok", output: JSON.stringify({ sources: [{ url, title }] }) };
  return [
    { type: "tool_call", id: `call-${id}`, call: { id, name: "read-page", params: "{}" }, external: false },
    { type: "tool_result", id: `result-${id}`, call: id, outcome },
  ];
}

const said = (role: "user" | "assistant", text: string): TurnItem => ({
  type: "message",
  id: text,
  role,
  text,
});

function linesOf(transcript: ReturnType<typeof createTranscript>): readonly string[] {
  const renderer = createRenderer(createPalette(false));
  return transcript.entries
    .filter(({ type }) => type === "answer")
    .flatMap((entry) => renderer.lines(entry, 60, false))
    .map((line) => stripVTControlCharacters(line).trimEnd());
}

test("has the host before the title, and the whole address", () => {
  const transcript = createTranscript(() => {});
  const read = reading("a", "https://a.example/x", "bank.example\u001b[31m\nMills");
  transcript.replay([said("user", "What?"), ...read, said("assistant", "That.")], ENDED);
  const lines = linesOf(transcript);
  expect(lines.findIndex((line) => line.includes("1. a.example: bank.example"))).toBeGreaterThan(0);
  expect(lines).toContain("  Sources");
  expect(lines).toContain("     https://a.example/x");
  expect(lines.join("")).not.toContain("\u001b");
});

test("has what was read before a gate, and nothing of an earlier answer", () => {
  const transcript = createTranscript(() => {});
  transcript.replay(
    [said("user", "First?"), ...reading("a", "https://first.example/", "First"), said("assistant", "One.")],
    ENDED,
  );
  transcript.replay([said("user", "Second?"), ...reading("b", "https://second.example/", "Second")], ENDED);
  transcript.ask({ type: "approval", id: "g", call: { id: "c", name: "write", params: "{}" } } as Gate);
  transcript.replay([said("assistant", "Two.")], ENDED);
  const text = linesOf(transcript).join("\n");
  const [, after = ""] = text.split("Two.");
  expect(after).toContain("1. second.example: Second");
  expect(after).not.toContain("first.example");
});
