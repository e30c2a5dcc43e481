/**
 * The links that others gave: in pages, search results and documents from outside. A tool that may read any public page may follow
 * them without a question where nothing of this conversation can be in them: the call that brought them had carried out only what
 * is the person's, or had followed such a link itself. What a model, a caller's function, a server or memory says gives none.
 */
import { LRUCache } from "lru-cache";
import { leavesOf } from "./call/param-values.ts";
import { isLittle, isPlace } from "./call/read-check.ts";
import { isOwnAddress, repeatsWordsOf } from "./call/web-address.ts";
import type { Said } from "./person/utterances.ts";
import { readsAnyPage, type Source } from "./sources.ts";

/** So many are followed in a turn before it asks: which of them were chosen says something too. */
export const MAX_FOLLOWED = 30;

/** `isTrusted`: whether this tool may go there by the word of the operator or the user. */
export function linksGiven(
  heard: readonly Source[],
  said: Said,
  isTrusted: (tool: string, address: string) => boolean,
): ReadonlySet<string> {
  const given = new Set<string>();
  for (const [at, { text, asked, isDocument = false, lookup }] of heard.entries()) {
    // The model may have put anything into an address of a trusted host, and the page may repeat it.
    const composed: string[] = [];
    const passes =
      lookup !== undefined &&
      leavesOf({ schema: lookup.schema, params: asked, roles: lookup.params }).every((leaf) => {
        if (leaf.isRest) return false;
        // Nobody else had said anything before the first call.
        if (!readsAnyPage(lookup) || !isPlace(leaf, true)) return at === 0 || isLittle(leaf, said);
        const address = String(leaf.value);
        if (given.has(address) || isOwnAddress(address, said)) return true;
        composed.push(address);
        return isTrusted(lookup.name, address);
      });
    if (!passes && !isDocument) continue;
    const repeats = composed.map(repeatsWordsOf);
    for (const link of linksIn(text)) if (!repeats.some((repeated) => repeated(link))) given.add(link);
  }
  return given;
}

const LINK = /https?:\/\/[^\s"“”<>`\\^|{}[\]]{1,2000}/giu;
const MAX_CACHED = 16_000_000;

const known = new LRUCache<string, ReadonlySet<string>>({
  maxSize: MAX_CACHED,
  sizeCalculation: (links, text) => Math.min(text.length + links.size * 80 + 1, MAX_CACHED),
});

/** The links in a text as they stand there, and without the marks of the sentence around them. */
function linksIn(text: string): ReadonlySet<string> {
  const found = known.get(text);
  if (found !== undefined) return found;
  const links = new Set<string>();
  for (const [link] of text.matchAll(LINK)) {
    const whole = untilClosed(link);
    links.add(whole);
    links.add(whole.replace(/[.,;:!?'’*_]{1,5}$/u, ""));
  }
  known.set(text, links);
  return links;
}

/** The link up to a bracket that was opened before it. */
function untilClosed(link: string): string {
  let open = 0;
  for (let at = 0; at < link.length; at++) {
    if (link[at] === "(") open++;
    else if (link[at] === ")" && --open < 0) return link.slice(0, at);
  }
  return link;
}
