/** A call in the words of the page's language: what was done, to what, with how much of a result. */
import { type CallState, COUNTED, tellDeed, tellLines } from "../../../../kernel/kit/display.ts";
import type { CallSummary } from "../../state/wire.ts";
import { text } from "../../text/text.ts";

const words = text.chat.calls;

export function tellCall({ did, object, counts = {} }: CallSummary, state: CallState): string {
  const { added, removed, ...found } = counts;
  const counted = COUNTED.flatMap((name) => {
    const count = found[name];
    return count === undefined ? [] : [words.counted[name](count)];
  });
  const lines = added === undefined ? [] : [tellLines(added, removed)];
  // A service that was upgraded after the page was loaded may tell of more than the page knows.
  const deed = new Map(Object.entries(words.deeds)).get(did);
  return [deed ? tellDeed(deed, object, state) : did, ...counted, ...lines].join(" · ");
}
