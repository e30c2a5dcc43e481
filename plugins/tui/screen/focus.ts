/** What takes the keys: the composer, or an entry of the history that can be opened or answered. */
import type { Conversation } from "../conversation/conversation.ts";
import { isAsking, isFoldable } from "../conversation/entry.ts";
import type { Viewport } from "./viewport.ts";

/** A key that was on its way before a question could be read does not answer it. */
const MIN_SIGHT_MS = 500;

export function createFocus(conversation: Conversation, viewport: Viewport, now: () => number) {
  /** Undefined while the composer has the focus. */
  let entry: number | undefined;
  /** The question that has taken the focus, and when. */
  let asked: { readonly id: number; readonly at: number } | undefined;
  /** The question that the person left for the composer. */
  let left: number | undefined;

  /** The composer, then everything that can be opened or answered, newest first. */
  function elements(): readonly (number | undefined)[] {
    const others = conversation.entries.filter((each) => isFoldable(each) || isAsking(each));
    return [undefined, ...others.map(({ id }) => id).reverse()];
  }

  return {
    get entry() {
      return entry;
    },
    next(by: 1 | -1): void {
      const all = elements();
      const next = all[(all.indexOf(entry) + by + all.length) % all.length];
      if (next === undefined) left = entry;
      else viewport.show(next);
      entry = next;
    },
    toComposer(): void {
      entry = undefined;
    },
    /** Back to the composer: this question does not take the focus again. */
    leave(question: number | undefined): void {
      left = question;
      entry = undefined;
    },
    /**
     * A new question takes the focus while nothing is being written and no other question is being read. Returns true if one
     * has taken it now.
     */
    takeQuestion(isWriting: boolean): boolean {
      const questions = conversation.entries.filter(isAsking);
      const question = questions.at(-1)?.id;
      const isNew = question !== asked?.id;
      if (question === undefined || question === left || isWriting) return false;
      if (entry !== undefined && (!isNew || questions.some(({ id }) => id === entry))) return false;
      entry = question;
      asked = { id: question, at: now() };
      // A key answers it, so its reason has to be on the screen.
      viewport.show(question);
      return true;
    },
    /** True if the person has had the time to read it. */
    isSeen: (question: number): boolean => asked?.id !== question || now() - asked.at >= MIN_SIGHT_MS,
  };
}
