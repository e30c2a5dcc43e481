/** The message being written, and those sent before it, which can be called back. */
import { type Draft, draftOf, EMPTY } from "./composer.ts";

const MAX_SENT = 100;

export function createDrafts() {
  const sent: string[] = [];
  let current: Draft = EMPTY;
  /** The index of the sent message that the composer shows; `sent.length` if none. */
  let recalled = 0;
  /** The draft that recalling put aside. */
  let unsent: Draft = EMPTY;
  let isPasted = false;

  function edit(next: Draft): void {
    current = next;
    recalled = sent.length;
    if (next.text === "") isPasted = false;
  }

  function remember(text: string): void {
    if (sent.at(-1) !== text) sent.push(text);
    if (sent.length > MAX_SENT) sent.shift();
  }

  return {
    get current() {
      return current;
    },
    /** True if any of the draft was pasted. */
    get isPasted() {
      return isPasted;
    },
    edit,
    markPasted(): void {
      isPasted = true;
    },
    /** The text stays as it is. */
    moveTo(next: Draft): void {
      current = next;
    },
    /** Shows the sent message before or after the one that is shown. */
    recall(by: 1 | -1): void {
      const next = recalled + by;
      if (next < 0 || next > sent.length) return;
      if (recalled === sent.length) unsent = current;
      recalled = next;
      current = next === sent.length ? unsent : draftOf(sent[next] ?? "");
      // A sent message may have been pasted: that is not remembered.
      isPasted = true;
    },
    /** Empties the composer; the text can be recalled. */
    putAway(text: string): void {
      remember(text);
      edit(EMPTY);
    },
  };
}
