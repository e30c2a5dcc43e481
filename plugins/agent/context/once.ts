/** What is said to the model with one turn only: it stands before the turn's message and is never stored. */
import type { RenderedMessage } from "../../../kernel/kit.ts";
import { type Rendered, renderBlock } from "../threads/turns/rendering.ts";

/** `texts`: each is a block of its own. A turn without a message has them at its beginning, after the results it brings. */
export function withOnce({ messages, open }: Rendered, texts: readonly string[]): Rendered {
  if (texts.length === 0) return { messages, open };
  const block = texts.map((text) => renderBlock("instructions", text)).join("\n\n");
  const found = messages.findIndex(({ role }) => role !== "tool");
  const at = found === -1 ? messages.length : found;
  const first = messages[at];
  const isSpoken = first?.role === "user";
  const said: RenderedMessage = isSpoken
    ? { ...first, text: `${block}\n\n${first.text}` }
    : { role: "user", text: block };
  return { messages: messages.toSpliced(at, isSpoken ? 1 : 0, said), open };
}
