/** Which tools of the indexes fit some words, and which one a bare name means. */
import { Fault } from "../../../kernel/plugin.ts";
import type { IndexEntry } from "./index-file.ts";

/** The best first. Every word has to be in the name or the sentence; no words find everything. */
export function searchEntries(
  entries: readonly IndexEntry[],
  words: readonly string[],
): readonly IndexEntry[] {
  const wanted = words.flatMap((word) => word.toLowerCase().split(" ")).filter((word) => word !== "");
  const scored = entries.flatMap((entry) => {
    const scores = wanted.map((word) => score(entry, word));
    return scores.includes(0) ? [] : [{ entry, score: scores.reduce((sum, one) => sum + one, 0) }];
  });
  return scored
    .sort((one, other) => other.score - one.score || one.entry.name.localeCompare(other.entry.name))
    .map(({ entry }) => entry);
}

function score({ name, about }: IndexEntry, word: string): number {
  const lower = name.toLowerCase();
  if (lower === word) return 8;
  if (lower.startsWith(word)) return 4;
  if (lower.includes(word)) return 2;
  return about.toLowerCase().includes(word) ? 1 : 0;
}

/** A fault where no index lists the name, or two mean different tools by it. */
export function findEntry(entries: readonly IndexEntry[], name: string): IndexEntry {
  const found = entries.filter((entry) => entry.name === name);
  const [first] = found;
  if (first === undefined) {
    throw new Fault(
      "missing",
      "not_in_an_index",
      `No index lists a tool named ${name}. "postern tool search" shows what they list; a file or folder is given with its path, such as ./${name}.`,
      { param: "name" },
    );
  }
  const isSame = (other: IndexEntry) =>
    other.from === first.from && other.digest === first.digest && other.signer === first.signer;
  if (!found.every(isSame)) {
    const both = found.map(({ from, index }) => `${from} (listed in ${index})`).join(" and ");
    throw new Fault(
      "invalid",
      "ambiguous_name",
      `${name} is the name of different tools: ${both}. Install one by its full reference.`,
      { param: "name" },
    );
  }
  return first;
}
