/** Leaves input out that does not fit a model's window: whole pairs, from the middle. */

import { Fault } from "../../../kernel/plugin.ts";
import { estimateTokens, type RenderedMessage } from "../threads/tokens.ts";

/**
 * The messages without so many tokens of them; undefined where that cannot be. The first message of the user, what the
 * application instructs and all that follows the assistant's last word stay. Calls go with their results, oldest first,
 * and only then the message they were made for, with its answer.
 */
export function leaveOut(messages: readonly RenderedMessage[], excess: number) {
  const gone = new Set<RenderedMessage>();
  let left = excess;
  for (const unit of unitsOf(messages)) {
    if (left <= 0) break;
    for (const message of unit) {
      gone.add(message);
      left -= estimateTokens(message);
    }
  }
  return left > 0 ? undefined : messages.filter((message) => !gone.has(message));
}

/** Returns what can go, in the order in which it goes. */
function unitsOf(messages: readonly RenderedMessage[]): readonly (readonly RenderedMessage[])[] {
  const units: RenderedMessage[][] = [];
  const first = messages.find(isSaidByUser);
  let talk: RenderedMessage[] = [];
  let round: RenderedMessage[] | undefined;
  let last: RenderedMessage | undefined;
  for (const message of messages.slice(0, endOfMiddle(messages))) {
    if (message.role === "tool") (round ?? talk).push(message);
    else if (message.role === "assistant" && message.calls.length > 0) {
      round = [message];
      units.push(round);
    } else {
      round = undefined;
      if (message.role === "assistant") talk.push(message);
      else if (isSaidByUser(message)) {
        if (last !== undefined && !isSaidByUser(last)) {
          units.push(talk);
          talk = [];
        }
        if (message !== first) talk.push(message);
      }
    }
    last = message;
  }
  return [...units, talk];
}

/** Results belong to the calls before them. */
function endOfMiddle(messages: readonly RenderedMessage[]): number {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const message = messages[at];
  return message?.role === "assistant" && message.calls.length > 0 ? at : at + 1;
}

/** A message that is nothing but instructions has no words of the user: theirs cannot look like it. */
function isSaidByUser(message: RenderedMessage): boolean {
  if (message.role !== "user") return false;
  const { text } = message;
  const end = "\n</instructions>";
  return !(text.startsWith("<instructions>\n") && text.indexOf(end) === text.length - end.length);
}

export function tooLong(tokens: number, room: number, window: number): Fault {
  const [has, fits, all] = [tokens, Math.max(room, 0), window].map((count) => count.toLocaleString("en"));
  const message = `The input has about ${has} tokens, but the model's context window of ${all} leaves ${fits} for it beside the instructions, the tools and the answer. Shorten the input, or let it be truncated.`;
  return new Fault("turn", "context_length_exceeded", message);
}
