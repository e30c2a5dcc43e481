/** Finds a model in tables of models, and what it costs. A name that is only similar is another model, with another price. */
import type { ModelRow, ModelTable, PriceRow } from "../../home/services.ts";

/** The row of a model as all tables together say it. */
export type FindRow = (name: string) => ModelRow | undefined;

/** What a later table says of a model wins, field by field. */
export function createLookup(tables: readonly ModelTable[]): {
  find: FindRow;
  rows: ReadonlyMap<string, ModelRow>;
} {
  const rows = new Map<string, ModelRow>();
  for (const { models } of tables)
    for (const [name, row] of Object.entries(models)) {
      const key = dashed(name);
      rows.set(key, { ...rows.get(key), ...row });
    }
  return {
    rows,
    find(name) {
      const whole = dashed(name);
      const bare = whole.slice(whole.lastIndexOf("/") + 1);
      for (const key of [whole, undated(whole), bare, undated(bare)]) {
        const row = rows.get(key);
        if (row !== undefined) return row;
      }
      return undefined;
    },
  };
}

/** Tokens of context to plan with: beyond the first tier the whole request is dearer. */
export function windowOf({ window, prices = [] }: ModelRow): number | undefined {
  const tiers = prices.flatMap(({ above }) => above ?? []);
  return window === undefined ? undefined : Math.min(window, ...tiers);
}

/** Returns the prices of a request on a day; undefined if they are not known. */
export function priceOf({ prices = [] }: ModelRow, inputTokens: number, day: string): PriceRow | undefined {
  return prices
    .filter(({ above = -1, from = day, until = day }) => from <= day && day <= until && inputTokens > above)
    .toSorted((one, other) => (other.above ?? 0) - (one.above ?? 0))[0];
}

/** OpenRouter writes versions with dots where their makers write dashes. */
const dashed = (name: string) => name.toLowerCase().replaceAll(".", "-");

const undated = (name: string) => name.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
