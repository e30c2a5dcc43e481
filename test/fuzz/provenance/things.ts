/** The things in lists, and which words of a person name one. */
import type { Answered } from "./case.ts";
import { isRowOf, type Said, wordsOf } from "./said.ts";

export type Thing = readonly (readonly [field: string, value: string, isListed: boolean])[];

const LITTLE = new Set("the a of to in on at for my with and is his you as".split(" "));
const KINDS = new Set(
  "mail mails file files event events meeting list channel note same participants largest smallest".split(
    " ",
  ),
);
export const isTelling = (word: string): boolean => !LITTLE.has(word) && !KINDS.has(word);

export function thingsIn({ output }: Answered): Thing[] {
  if (typeof output === "string") return [];
  return output.map((one) =>
    Object.entries(one).flatMap(([field, value]) =>
      [value].flat().map((each) => [field, String(each), Array.isArray(value)] as const),
    ),
  );
}
export const get = (thing: Thing, name: string) => thing.find(([field]) => field === name)?.[1];

/** The words by which the person names a thing: the whole of a field, or two of them in a row, but half an address is somebody else's. */
export function namingOf(thing: Thing, said: Said): readonly string[] {
  const rows = thing.flatMap(([, value, isListed]) => {
    const words = isListed ? [] : wordsOf(value);
    return words.flatMap((_, from) =>
      words
        .map((_, to) => words.slice(from, to + 1))
        .flatMap((row) => {
          const larger = row.filter((word) => !LITTLE.has(word));
          const isNaming = row.length === words.length || (larger.length > 1 && !value.includes("@"));
          const isEnough = row.filter(isTelling).join("").length > 2;
          const isSaid = said.texts.some((text) => isRowOf(row.join(" "), text));
          return isNaming && isEnough && isSaid && row.length > 0
            ? [{ row, share: row.length / words.length }]
            : [];
        }),
    );
  });
  return rows.toSorted((one, other) => other.share - one.share)[0]?.row ?? [];
}
