/** Guesses from a parameter's name what it is for: where something goes, what is meant, or what is said. In doubt, the strictest. */
import { wordsOfName } from "../../../kernel/kit/words.ts";
import { isHost } from "../person/identifiers.ts";
import params from "../words/params.json" with { type: "json" };

export type Role = "destination" | "selector" | "content";

const setOf = (words: string) => new Set(words.split(" "));

/** Whatever else its name says, it leads out of here. */
const LINK = setOf(params.link);
/** These are destinations even when the parameter is called the number or the name of one. */
const ADDRESS = setOf(params.address);
const PLACE = setOf(params.place);
const SELECTOR = setOf(params.selector);
const CONTENT = setOf(params.content);
const RECIPIENT = setOf(params.recipient);
const USUAL = new Set([...LINK, ...ADDRESS, ...PLACE, ...SELECTOR, ...CONTENT, ...setOf(params.usual)]);
const FORMAT = /^(?:idn-)?(?:email|hostname)$|^ur[il]|^iri|^ipv[46]$|^(?:phone|tel)/;

/** `path` has the names of a parameter and of what it is in, the outermost first. */
export function roleOf(path: readonly string[], format?: string): Role {
  if (format !== undefined && FORMAT.test(format)) return "destination";
  const own = wordsOfName(path.at(-1) ?? "");
  const last = own.at(-1) ?? "";
  if (own.some((word) => LINK.has(word))) return "destination";
  if (CONTENT.has(last)) return "content";
  const isId = last === "id" || last === "ids" || last === "key";
  if (!isId && own.some((word) => ADDRESS.has(word))) return "destination";
  // "file_path" is a place, "user_id" says which one.
  if (SELECTOR.has(last) && (isId || !own.some((word) => PLACE.has(word)))) {
    // The name of a recipient, where recipients have names and addresses.
    return !isId && path.slice(0, -1).some((name) => roleOf([name]) === "destination")
      ? "destination"
      : "selector";
  }
  if (own.some((word) => PLACE.has(word))) return "destination";
  return path.length > 1 && path.slice(0, -1).some((name) => roleOf([name]) === "destination")
    ? "destination"
    : "content";
}

/** True where it says who gets something. */
export function namesRecipient(name: string): boolean {
  return wordsOfName(name).some((word) => RECIPIENT.has(word));
}

const MAX_NAME_WORDS = 3;

/** True for a parameter's name that many tools have, and that says nothing but what it is for. */
export function isUsualName(name: string): boolean {
  const own = wordsOfName(name);
  return /^[a-z_]{1,40}$/i.test(name) && own.length <= MAX_NAME_WORDS && own.every((word) => USUAL.has(word));
}

/** True where it says where on the network something is. */
export function leadsOut(path: readonly string[], format?: string): boolean {
  if (format !== undefined && /^(?:idn-)?hostname$|^ur[il]|^iri|^ipv/.test(format)) return true;
  return path.some((name) => wordsOfName(name).some((word) => LINK.has(word)));
}

/** True for a text that can only be an address; "notes.md" may be a file. */
export function isPlainAddress(value: string): boolean {
  const text = value.trim();
  return /^(?:[a-z][a-z0-9+.-]*:\S|\/\/|www\.)/i.test(text) || /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);
}

/** True for an address, whatever its parameter is called. */
export function isAddress(value: string): boolean {
  return isPlainAddress(value) || isHost(value.trim());
}
