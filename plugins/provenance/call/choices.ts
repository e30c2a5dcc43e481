/** Judges values that are chosen rather than written: yes or no, or one of a few that the schema lists. */
import { foldedWords, stem, wordsOfName } from "../../../kernel/kit/words.ts";
import type { Said } from "../person/utterances.ts";
import params from "../words/params.json" with { type: "json" };
import type { Leaf } from "./param-values.ts";
import { wantedBy } from "./requested-action.ts";

const FILLER = new Set(params.filler.split(" "));
/** To switch one of these off takes protection away. */
const PROTECTING = params.protecting.split(" ");
const protects = (word: string) => PROTECTING.some((start) => word.startsWith(start));

const LEAST = /^(?:r|ro|read|reader|read[-_ ]?only|view|viewer|private|draft|none)$/i;

/** True where the person spoke of what is switched on, or where switching it off takes no protection away. */
export function isSwitched({ name, value, property }: Leaf, said: Said): boolean {
  const names = wordsOfName(name.split(".").at(-1) ?? "");
  const telling = names.filter((word) => !FILLER.has(word));
  const wanted = wantedBy(said);
  if (value === true) return telling.length > 0 && telling.every((word) => wanted.has(stem(word)));
  return property.default === undefined && !names.some(protects);
}

/** True for a choice that the person named, by its own words. */
export function isChosen({ name, value, property }: Leaf, said: Said): boolean {
  if (!property.choices.includes(value)) return false;
  if (property.choices.length === 1) return true;
  // To let somebody look is the least that sharing can mean.
  if (LEAST.test(String(value)) && !wordsOfName(name).some(protects)) return true;
  const names = foldedWords(String(value)).filter((word) => !FILLER.has(word));
  const wanted = wantedBy(said);
  return names.length > 0 && names.every((word) => wanted.has(stem(word)));
}
