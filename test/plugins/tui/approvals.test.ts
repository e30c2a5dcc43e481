/** Approvals in the history pane, while they wait and once they were answered. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Gate } from "../../../kernel/plugin.ts";
import { createAnswers } from "../../../plugins/tui/conversation/answers.ts";
import { choicesOf, type Entry, isFoldable } from "../../../plugins/tui/conversation/entry.ts";
import { createTranscript } from "../../../plugins/tui/conversation/transcript.ts";
import { createRenderer } from "../../../plugins/tui/screen/entry-lines.ts";
import { createPalette } from "../../../plugins/tui/text/palette.ts";

type Approval = Extract<Gate, { type: "approval" }>;

const GATE: Approval = {
  type: "approval",
  id: "g",
  turn: "t",
  thread: "h",
  openedAt: "2026-11-19T12:00:00.000Z",
  call: { id: "c", name: "post", params: '{"recipient":"eve@evil.example","body":"one\\ntwo"}' },
  grants: ["may write to https://post.example/"],
  fingerprint: "f",
};

function asked(gate: Approval) {
  const transcript = createTranscript(() => {});
  const answers = createAnswers(transcript, () => {});
  transcript.ask(gate);
  const entry = (): Entry => transcript.entries.at(-1) as Entry;
  return { answers, entry, shown: () => linesOf(entry()) };
}

function linesOf(entry: Entry): readonly string[] {
  const lines = createRenderer(createPalette(false)).lines(entry, 80, false);
  return lines.map((line) => stripVTControlCharacters(line).trimEnd());
}

test("an approval that was answered is its question and the answer, and opens into what it was about", () => {
  const { answers, entry, shown } = asked(GATE);
  expect(shown()).toContain("    │ two");
  expect(isFoldable(entry())).toBe(false);
  const [once] = choicesOf(GATE);
  answers.decide(entry().id, once as NonNullable<typeof once>);
  expect(shown()).toEqual(["  ? post needs your approval.", "    ▸ Answered: Once", ""]);
  expect(isFoldable(entry())).toBe(true);
  answers.toggle(entry().id);
  expect(shown()).toEqual(
    expect.arrayContaining(["    ▾ Answered: Once", "    │ two", "    • may write to https://post.example/"]),
  );
});

test("a plan names each step in words, and whose a value is before the value", () => {
  const values = [
    {
      param: "item_id",
      value: "i-207",
      called: "Ridge\u001b[2J",
      from: "from the server market",
    },
    { param: "quantity", value: "1" },
  ];
  const step = {
    tool: "market_add",
    title: "Add to basket (market)",
    note: "you did not ask for this",
    values,
  };
  const { answers, entry, shown } = asked({
    ...GATE,
    steps: [step, { tool: "post", title: "Post", values: [] }],
  });
  expect(shown().slice(0, -1)).toEqual([
    "  ? May these 2 steps be made?",
    "    1. Add to basket (market): you did not ask for this",
    "       item_id “Ridge\\u{1b}[2J” (from the server market): i-207",
    "       quantity: 1",
    "    2. Post",
    "     Allow these steps (y)   Always (a)   Deny (n)  Tab to answer",
  ]);
  answers.decide(entry().id, { key: "y", label: "Allow these steps", decision: "once" });
  expect(shown()).toHaveLength(3);
});
