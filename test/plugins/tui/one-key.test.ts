/** What a key does to a question that waits, by the view alone. */
import type { Key } from "ink";
import { expect, test } from "vitest";
import type { Gate } from "../../../kernel/plugin.ts";
import { createAnswers } from "../../../plugins/tui/conversation/answers.ts";
import { createConversation } from "../../../plugins/tui/conversation/conversation.ts";
import { createTranscript } from "../../../plugins/tui/conversation/transcript.ts";
import { columnOf } from "../../../plugins/tui/screen/scroll-position.ts";
import { createView } from "../../../plugins/tui/screen/view.ts";

const NO_KEY = {} as Key;

type Opened = ReturnType<typeof createConversation>;

function open(
  command: (conversation: Opened, text: string) => void = () => {},
  // Nothing is sent here: a question of Postern's own is answered by the same keys as a gate.
  conversation = createConversation({ watch: () => () => {} } as never),
) {
  let time = 0;
  const view = createView({
    conversation,
    submit: async (text) => {
      command(conversation, text);
      return true;
    },
    completeCommand: () => undefined,
    completeMention: () => undefined,
    repaint: () => {},
    quit: () => {},
    now: () => time,
  });
  const draw = () => view.framed({ height: 10, column: columnOf([], 80), composerWidth: 80 });
  return {
    conversation,
    view,
    draw,
    press: (input: string, key: Partial<Key> = {}) => view.press(input, { ...NO_KEY, ...key } as Key),
    later: (millis: number) => {
      time += millis;
    },
  };
}

test("one key answers a question; one that was on its way as it appeared only selects", async () => {
  const { conversation, draw, press, later } = open();
  let agreed: boolean | undefined;
  void conversation.confirm("Delete it?", "Delete").then((answer) => {
    agreed = answer;
  });
  draw();
  press("y");
  await Promise.resolve();
  expect(agreed).toBeUndefined();
  later(500);
  press("y");
  await Promise.resolve();
  expect(agreed).toBe(true);
});

test("a newer question leaves the keys to the one that is being read", async () => {
  const { conversation, draw, press, later } = open();
  const answers: string[] = [];
  void conversation.confirm("Delete it?", "Delete").then((answer) => answers.push(`first ${answer}`));
  draw();
  later(500);
  void conversation.confirm("Delete the other?", "Delete").then((answer) => answers.push(`second ${answer}`));
  draw();
  press("y");
  await Promise.resolve();
  expect(answers).toEqual(["first true"]);
  draw();
  press("y");
  press("", { return: true });
  await Promise.resolve();
  expect(answers).toEqual(["first true", "second true"]);
});

test("a draft is never taken for an answer, and an empty one gives the question its keys back", async () => {
  const { conversation, view, draw, press, later } = open();
  press("H");
  const answer = conversation.confirm("Delete it?", "Delete");
  draw();
  later(1000);
  press("y");
  expect(view.draft.text).toBe("Hy");
  press("", { backspace: true });
  press("", { backspace: true });
  draw();
  later(1000);
  press("n");
  expect(await answer).toBe(false);
  expect(view.draft.text).toBe("");
});

test("after Esc the keys belong to the composer until Tab", async () => {
  const { conversation, view, draw, press, later } = open();
  const answer = conversation.confirm("Delete it?", "Delete");
  draw();
  later(1000);
  press("", { escape: true });
  draw();
  press("y");
  expect(view.draft.text).toBe("y");
  press("", { backspace: true });
  draw();
  press("", { tab: true });
  press("n");
  expect(await answer).toBe(false);
});

test("a command that answers more than a screen is read from its beginning, and less of it at the end", async () => {
  const { conversation, view, draw, press } = open((conversation, text) => {
    conversation.echo(text);
    conversation.note("lines");
  });
  const rows = (count: number) => Array.from({ length: count }, () => "");
  const columnWith = (height: number) =>
    columnOf(
      conversation.entries.map(({ id, type }) => ({ id, lines: rows(type === "note" ? height : 2) })),
      80,
    );
  const framed = (height: number) =>
    view.framed({ height: 10, column: columnWith(height), composerWidth: 80 });
  draw();
  for (const [height, top] of [
    [30, 0],
    [5, 3],
  ] as const) {
    press("/");
    press("", { return: true });
    await Promise.resolve();
    await Promise.resolve();
    expect(framed(height)).toBe(top);
    press("", { pageDown: true });
  }
});

const PLAN: Gate = {
  type: "approval",
  id: "g",
  turn: "t",
  thread: "h",
  openedAt: "2026-11-19T12:00:00.000Z",
  call: { id: "c", name: "plan_steps", params: "{}" },
  grants: [],
  steps: [],
};

test("a plan that is longer than the screen is agreed to once its last step was on it, and denied at once", () => {
  for (const [key, presses, decision] of [
    ["y", 3, "once"],
    ["n", 1, "deny"],
  ] as const) {
    const sent: object[] = [];
    const transcript = createTranscript(() => {});
    transcript.ask(PLAN);
    const answers = createAnswers(transcript, (answer) => sent.push(answer));
    const { entries } = transcript;
    const { view, press, later } = open(undefined, { entries, ...answers } as never);
    const rows = [...Array.from({ length: 25 }, () => "step"), ""];
    const column = columnOf([{ id: entries[0]?.id ?? 0, lines: rows }], 80);
    for (let pressed = 0; pressed < presses; pressed++) {
      expect(sent).toEqual([]);
      view.framed({ height: 10, column, composerWidth: 80 });
      later(500);
      press(key);
    }
    expect(sent).toMatchObject([{ decision }]);
  }
});
