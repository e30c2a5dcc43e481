/** Texts of megabytes: everybody's turns share one thread, so others have theirs in between. */
import { setImmediate } from "node:timers/promises";
import { isLong, LONG_LENGTH } from "../../../../kernel/kit/concurrency.ts";
import { hideShapes, KEY_START, redact } from "../../../../kernel/kit/secrets.ts";
import type { Mask } from "../../../../kernel/plugin.ts";

/** Returns what `redact` does, and works through a long text piece by piece. */
export async function redactLong(mask: Mask, text: string): Promise<string> {
  if (!isLong(text)) return redact(mask, text);
  let shown = "";
  const values = mask.stream();
  for (let at = 0; at < text.length; at += LONG_LENGTH) {
    await setImmediate();
    shown += values.push(text.slice(at, at + LONG_LENGTH));
  }
  shown += values.end();
  let safe = "";
  for (const piece of unbroken(shown)) {
    await setImmediate();
    safe += hideShapes(piece);
  }
  return safe;
}

/** Pieces of a text that begin with a space, where no secret goes on; one that may hold a private key is left whole. */
function* unbroken(text: string): Generator<string> {
  const space = /\s/g;
  if (text.includes(KEY_START)) return yield text;
  for (let from = 0; from < text.length; from = space.lastIndex - 1) {
    space.lastIndex = from + LONG_LENGTH;
    if (!space.test(text)) return yield text.slice(from);
    yield text.slice(from, space.lastIndex - 1);
  }
}
