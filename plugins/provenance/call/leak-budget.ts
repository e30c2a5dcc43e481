/**
 * Counts what the calls of one turn could carry out of here in values that each say little: switches, choices, empty values, page
 * numbers, and which of the person's words come in which order. Together they may say no more than a few letters would.
 */
import { foldedWords } from "../../../kernel/kit/words.ts";
import type { Said } from "../person/utterances.ts";
import type { Leaf } from "./param-values.ts";

/** As much as three page numbers, or twenty switches. */
const MAX_BITS = 22;
/** The same value in the same place as in the call before. */
const SAME_BITS = 0.1;
/** Another value than in the call before, on top of what it says itself: to change or not to change says something too. */
const CHANGED_BITS = 2;
const EMPTY_BITS = Math.log2(3);
const MAX_DEPTH = 40;

export type LeakBudget = ReturnType<typeof createLeakBudget>;
export type Spending = ReturnType<LeakBudget["open"]>;

interface Sent {
  /** The values by their places. */
  readonly values: Map<string, string>;
  /** How far in the person's words each parameter has come. */
  readonly reached: Map<string, number>;
}

export function createLeakBudget() {
  let left = MAX_BITS;
  const sent = new Map<string, Sent>();

  return {
    /** For one call. What it spends counts once it is kept, because a call that is asked about may never be made. */
    open(tool: string) {
      const before = sent.get(tool);
      const values = new Map<string, string>();
      const reached = new Map(before?.reached);
      let spent = 0;

      const take = (at: string, value: unknown, bits: number, changed = CHANGED_BITS): boolean => {
        const text = JSON.stringify(value);
        const last = before?.values.get(at);
        values.set(at, text);
        if (last === text) spent += SAME_BITS;
        else spent += bits + (last === undefined ? 0 : changed);
        return spent <= left;
      };

      return {
        take,
        /** Takes what it says to name these words of the person after those that were named before in this parameter. */
        takeSaid({ at, name, value }: Pick<Leaf, "at" | "name" | "value">, said: Said): boolean {
          const words = foldedWords(String(value));
          let place = reached.get(name);
          let bits = 0;
          for (let from = 0; from < words.length; ) {
            const length = Math.max(1, said.run(words, from));
            const found = said.placeOf(words.slice(from, from + length), place ?? 0);
            // The first words are free, and those that follow cost as much as is left out between them.
            if (place !== undefined)
              bits += Math.log2(
                found !== undefined && found >= place ? found - place + 2 : said.words.size + 2,
              );
            place = (found ?? 0) + length;
            from += length;
          }
          if (place !== undefined) reached.set(name, place);
          return take(at, value, bits, 1);
        },
        /** Takes a page number: the next one says less than any other. */
        takePage({ at, value }: Pick<Leaf, "at" | "value">, bits: number): boolean {
          const isNext = before?.values.get(at) === String(Number(value) - 1);
          return isNext ? take(at, value, 1, 0) : take(at, value, bits);
        },
        keep(): void {
          left -= spent;
          sent.set(tool, { values, reached });
        },
      };
    },
  };
}

export interface EmptyNode {
  readonly at: string;
  readonly name: string;
  readonly shown: string;
  readonly bits: number;
}

/** The nodes of params that hold no value and still say something: how many there are, of which kind, and how they are nested. */
export function* emptyNodesOf(
  value: unknown,
  name = "",
  at = "",
  isListed = false,
  depth = 0,
): Generator<EmptyNode> {
  if (value !== null && typeof value !== "object") return;
  const inner = value === null ? [] : Object.entries(value);
  const shown = Array.isArray(value) ? "[]" : value === null ? "null" : "{}";
  if (inner.length === 0 && at !== "") yield { at, name, shown, bits: EMPTY_BITS };
  else if (isListed) yield { at: `${at}/`, name, shown, bits: 1 };
  if (depth < MAX_DEPTH)
    for (const [key, one] of inner) {
      const path = Array.isArray(value) ? name : name === "" ? key : `${name}.${key}`;
      yield* emptyNodesOf(one, path, `${at}/${key}`, Array.isArray(value), depth + 1);
    }
}
