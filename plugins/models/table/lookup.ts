/** Finds a model in tables of models, and what it costs. A name that is only similar is another model, with another price. */
import type { ModelRow, ModelTable, PriceRow } from "../../home/services.ts";

/** The row of a model as all tables together say it. */
export type FindRow = (name: string) => ModelRow | undefined;

/** What a later table says of a model wins, field by field. */
export function createLookup(tables: readonly ModelTable[]): {
  find: FindRow;
  rows: ReadonlyMap<string, ModelRow>;
  defaults(provider: string): readonly string[];
} {
  const rows = new Map<string, ModelRow>();
  for (const { models } of tables)
    for (const [name, row] of Object.entries(models)) {
      const key = dashed(name);
      rows.set(key, { ...rows.get(key), ...row });
    }
  return {
    rows,
    defaults: (provider) =>
      tables.findLast((table) => table.defaults?.[provider])?.defaults?.[provider] ?? [],
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

/** A day (UTC) that is so many days from now. */
export const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

export const retiresBy = (row: ModelRow | undefined, day: string) =>
  row?.retires !== undefined && row.retires <= day;

/** OpenRouter writes versions with dots where their makers write dashes. */
const dashed = (name: string) => name.toLowerCase().replaceAll(".", "-");

const undated = (name: string) => name.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
