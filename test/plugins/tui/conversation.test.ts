/** The conversation of a terminal, on events of turns. */
import { expect, test } from "vitest";
import type { TurnEvent } from "../../../kernel/plugin.ts";
import { createConversation } from "../../../plugins/tui/conversation/conversation.ts";

test("a title that comes after the end of a turn does not begin it again", async () => {
  let tell: (event: TurnEvent, turn: { id: string; thread: string }) => void = () => {};
  let title = "Hello";
  const conversation = createConversation({
    watch: (listener: typeof tell) => {
      tell = listener;
      return () => {};
    },
    threads: {
      turns: async () => [],
      find: async () => ({ id: "one", title }),
      turn: async () => ({ items: [{ id: "a", type: "message", role: "user", text: "Hello" }] }),
      contextOf: async () => ({ total: 1, window: 10 }),
    },
  } as never);
  await conversation.open("one");
  title = "A greeting";
  tell({ type: "titled", title }, { id: "turn", thread: "one" });
  await expect.poll(() => conversation.title).toBe("A greeting");
  expect(conversation.activity).toBeUndefined();
  expect(conversation.entries).toEqual([]);
  conversation.close();
});
