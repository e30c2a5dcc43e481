/** Values that are chosen rather than written: yes or no, or one of a few that the schema lists. */
import { foldedWords, stem, wordsOfName } from "../../../kernel/kit.ts";
import type { Said } from "../said.ts";
import type { Leaf } from "./leaves.ts";

const SMALL = new Set(
  "is has be as the a an of to in on for with should allow enable use set do make and or only all can".split(
    " ",
  ),
);
/** To switch one of these off takes something away that protects. */
const PROTECTS =
  /^(?:privat|secre|secur|safe|dry|preview|readonly|encrypt|confirm|verif|protect|draft|hidden|internal|requir|check|approv|notif|ask|sandbox|strict|tls|ssl|https|valid|backup|keep|retain|preserv|audit|log|mfa|otp|sanitiz|escap|restrict|limit|lock|revers|undo|trash|soft|archiv|simulat|test|sign|review|auth|password|warn|alert)/;

const LEAST = /^(?:r|ro|read|reader|read[-_ ]?only|view|viewer|private|draft|none)$/i;

/** On, where the person spoke of it; off, where that takes nothing away. */
export function isSwitched({ name, value, property }: Leaf, said: Said): boolean {
  const names = wordsOfName(name.split(".").at(-1) ?? "");
  const telling = names.filter((word) => !SMALL.has(word));
  const wanted = new Set([...said.asked].map(stem));
  if (value === true) return telling.length > 0 && telling.every((word) => wanted.has(stem(word)));
  return property.default === undefined && !names.some((word) => PROTECTS.test(word));
}

/** One that the person named, by its own word or by the one that the schema says for it: "r for read". */
export function isChosen({ name, value, property }: Leaf, said: Said): boolean {
  if (!property.choices.includes(value)) return false;
  if (property.choices.length === 1) return true;
  // To let somebody look is the least that sharing can mean.
  if (LEAST.test(String(value)) && !wordsOfName(name).some((word) => PROTECTS.test(word))) return true;
  const names = tellingIn(String(value));
  const wanted = new Set([...said.asked].map(stem));
  if (names.length > 0 && names.every((word) => wanted.has(stem(word)))) return true;
  const meanings = meaningOf(String(value), property);
  return meanings.length > 0 && meanings.every((word) => wanted.has(stem(word)));
}

function tellingIn(text: string): readonly string[] {
  return foldedWords(text).filter((word) => !SMALL.has(word));
}

/** What the description says about a choice: `"rw": read and write`, `r (read)`, `r = read`. */
function meaningOf(value: string, { description, choices }: Leaf["property"]): readonly string[] {
  const parts = description.slice(0, 4000).split(/[,;.\n|]|\bor\b/);
  const others = new Set(choices.map((choice) => String(choice).toLowerCase()));
  for (const part of parts) {
    const [first, ...meaning] = foldedWords(part.replace(/\b(?:for|means|is)\b/g, " "));
    if (first === value.toLowerCase()) return meaning.filter((word) => !SMALL.has(word) && !others.has(word));
  }
  return [];
}
