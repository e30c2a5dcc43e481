/** Commands for the open thread. */
import { quoted } from "../screen/text/markdown.ts";
import { ATTACH } from "./attach.ts";
import { codeBlocks } from "./code-blocks.ts";
import { type Commands, NO_THREAD } from "./command.ts";
import { EXPORT } from "./export.ts";
import { MODEL } from "./model.ts";

/** In bytes. Some terminals take more, and none says where it was too much. */
const LARGEST_COPY = 70_000;

/** Turns since a message: each answer to an approval is one. */
const LOOKED_AT = 50;

export const OPEN_THREAD: Commands = {
  new: {
    about: "start a new thread",
    async run({ conversation }) {
      await conversation.open(undefined);
      return "*New thread. Your next message starts it.*";
    },
  },
  retry: {
    about: "ask the last message again, for another answer",
    async run({ conversation, threads, user }) {
      const { thread } = conversation;
      if (thread === undefined) return NO_THREAD;
      if (conversation.activity) return "An answer is on its way. Esc cancels it; then /retry asks again.";
      const { items } = await threads.turns(user, thread, { limit: LOOKED_AT, through: "newest" });
      const last = items
        .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
        .findLast(({ input }) => input.type === "message");
      if (last === undefined) return "There is no message to ask again.";
      await conversation.sendAgain(last);
      return undefined;
    },
  },
  copy: {
    about: "copy the last answer, or the last code block in it",
    takes: "[code]",
    complete: (rest) => ["code"].filter((word) => word.startsWith(rest)),
    run({ conversation, copy }, rest) {
      if (rest !== "" && rest !== "code")
        return "/copy copies the last answer, /copy code its last code block.";
      const answer = conversation.entries.findLast(({ type }) => type === "answer");
      if (answer?.type !== "answer") return "There is no answer to copy yet.";
      const text = rest === "code" ? codeBlocks(answer.text).at(-1) : answer.text;
      if (text === undefined) return "There is no code block in the last answer.";
      if (Buffer.byteLength(text) > LARGEST_COPY)
        return "It is too long for the clipboard of a terminal. /export writes the thread to a file.";
      copy(text);
      return `Copied ${rest === "code" ? "the code block" : "the answer"}: ${text.length} characters. *Where your terminal does not allow that, /export writes a file.*`;
    },
  },
  attach: ATTACH,
  export: EXPORT,
  rename: {
    about: "rename the thread",
    takes: "<title>",
    async run({ conversation, threads, user }, rest) {
      if (conversation.thread === undefined) return NO_THREAD;
      if (rest === "") return "Write the new title after it: /rename Plans for May";
      await threads.rename(user, conversation.thread, rest);
      await conversation.lookUpTitle();
      return `Renamed to ${quoted(conversation.title ?? rest)}.`;
    },
  },
  delete: {
    about: "delete the thread",
    async run({ conversation, threads, user }) {
      const { thread } = conversation;
      const found = thread === undefined ? undefined : await threads.find(user, thread);
      if (found === undefined) return NO_THREAD;
      const { id, title, turns } = found;
      const question = `Delete "${title}" with ${turns} turn${turns === 1 ? "" : "s"} for good?`;
      if (!(await conversation.confirm(question, "Delete"))) return "Not deleted.";
      await threads.remove(user, id);
      if (conversation.thread === id) await conversation.open(undefined);
      return `Deleted ${quoted(title)}. *Your next message starts a new thread.*`;
    },
  },
  model: MODEL,
};
