/** Tokens to US dollars, exactly: whole numbers of a trillionth of a dollar, printed as decimals. */
import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import type { ModelName, Services, Usage } from "../../../kernel/plugin.ts";
import type { ModelRow, ModelTable } from "../../home/services.ts";
import type { TokenCount } from "../services.ts";
import { createLookup, dayIn, priceOf } from "../table/lookup.ts";
import shipped from "../table/models.json" with { type: "json" };

const MAX_SAID = 5000;

type HomeFiles = Services["homeFiles"];

export interface Prices {
  /** What is known of a model. */
  find(model: ModelName): ModelRow | undefined;
  /** Takes what a server says of its models: it wins over the tables, but not over the operator's words. */
  learn(provider: string, offered: readonly { readonly name: string; readonly row: ModelRow }[]): void;
  /** The models of a provider to take if none was chosen, best first. */
  defaults(provider: string): readonly string[];
  /** `isLocal`: its server is the operator's own, which costs nothing unless the price is known. */
  add(usage: Usage, model: ModelName, tokens: TokenCount, isLocal: boolean): Usage;
}

interface Cost {
  readonly input: bigint;
  readonly output: bigint;
  /** Less than if nothing had been read from a cache or written to it. */
  readonly saved: bigint;
}

/** Runs on the operator's own machine. */
function isFree({ provider }: ModelName): boolean {
  return provider === "builtin" || provider === "ollama";
}

/** The shipped table, then the one that was fetched, then the operator's own, which wins. */
export async function readPrices(
  files: Pick<HomeFiles, "models">,
): Promise<Prices & { readAgain(): Promise<boolean> }> {
  const tablesIn = ({ fetched, own = { models: {} } }: Awaited<ReturnType<typeof files.models>>) => ({
    own: createLookup([own]),
    all: createLookup([...tablesOf(fetched), own]),
  });
  let given = await files.models();
  let tables = tablesIn(given);
  const said = new LRUCache<string, ModelRow>({ max: MAX_SAID });
  const keyOf = ({ provider, name }: ModelName) => `${provider} ${name}`;
  const find = (model: ModelName): ModelRow | undefined => {
    const [table, server] = [isFree(model) ? undefined : tables.all.find(model.name), said.get(keyOf(model))];
    const own = tables.own.find(model.name);
    return table || server || own ? { ...table, ...server, ...own } : undefined;
  };

  /** What the dearest known model of its provider would have cost; of all, if the provider is not known. */
  function estimate({ provider, name }: ModelName, tokens: TokenCount, day: string): bigint {
    const rows = [...tables.all.rows.values()];
    const vendors = [provider, name.slice(0, Math.max(0, name.indexOf("/")))];
    const known = vendors.find((vendor) => rows.some((row) => row.provider === vendor));
    return rows
      .filter((row) => known === undefined || row.provider === known)
      .map((row) => costOf(row, tokens, day))
      .reduce(
        (most, cost) => (cost && cost.input + cost.output > most ? cost.input + cost.output : most),
        0n,
      );
  }

  return {
    /** Returns false if nothing has changed. */
    async readAgain() {
      const now = await files.models();
      if (isDeepStrictEqual(now, given)) return false;
      given = now;
      tables = tablesIn(given);
      return true;
    },
    find,
    learn(provider, offered) {
      for (const { name, row } of offered)
        if (Object.keys(row).length > 0)
          said.set(keyOf({ provider, name }), { ...said.get(keyOf({ provider, name })), ...row });
    },
    defaults: (provider) => tables.all.defaults(provider),
    add(usage, model, tokens, isLocal) {
      const day = dayIn(0);
      const cost = charged(tokens, costOf(find(model) ?? {}, tokens, day));
      const { input, output, saved } = cost ?? { input: 0n, output: 0n, saved: 0n };
      const isUnknown = cost === undefined && !isLocal && !isFree(model);
      return addUsage(usage, {
        inputTokens: tokens.inputTokens,
        outputTokens: tokens.outputTokens,
        cachedTokens: tokens.cachedTokens,
        reasoningTokens: tokens.reasoningTokens,
        inputCost: decimal(input),
        outputCost: decimal(output),
        totalCost: decimal(input + output),
        ...(saved !== 0n && { savedCost: decimal(saved) }),
        ...(isUnknown && { estimatedCost: decimal(estimate(model, tokens, day)) }),
      });
    },
  };
}

/** What the server says it charged is right. It does not say what of it is for the answer. */
function charged({ costUsd }: TokenCount, cost: Cost | undefined): Cost | undefined {
  if (costUsd === undefined) return cost;
  const total = trillionths(costUsd.toFixed(12));
  const output = cost === undefined || cost.output > total ? 0n : cost.output;
  return { input: total - output, output, saved: cost?.saved ?? 0n };
}

/** What is known of models but for the operator's own words: a table that was fetched before ours was made is no news. */
export function tablesOf(fetched: ModelTable | undefined): readonly ModelTable[] {
  const isNews = (fetched?.date ?? "") >= shipped.date;
  return [shipped as ModelTable, ...(fetched && isNews ? [fetched] : [])];
}

/** Undefined if the price is not known. */
function costOf(row: ModelRow, tokens: TokenCount, day: string): Cost | undefined {
  const {
    inputTokens,
    cachedTokens: read,
    cacheWriteTokens: written = 0,
    hourWriteTokens: long = 0,
  } = tokens;
  const price = priceOf(row, inputTokens, day);
  if (price === undefined) return undefined;
  const { write = price.input, write_1h = write } = price;
  const fresh = Math.max(0, inputTokens - read - written);
  const input =
    BigInt(fresh) * micros(price.input) +
    BigInt(read) * micros(price.read ?? price.input) +
    BigInt(written - long) * micros(write) +
    BigInt(long) * micros(write_1h);
  const uncached = BigInt(fresh + read + written) * micros(price.input);
  return { input, output: BigInt(tokens.outputTokens) * micros(price.output), saved: uncached - input };
}

export function addUsage(one: Usage, other: Usage): Usage {
  const count = (name: Counted) => one[name] + other[name];
  const cost = (name: Priced) => decimal(trillionths(one[name]) + trillionths(other[name]));
  const isSaved = one.savedCost !== undefined || other.savedCost !== undefined;
  const isEstimated = one.estimatedCost !== undefined || other.estimatedCost !== undefined;
  return {
    inputTokens: count("inputTokens"),
    outputTokens: count("outputTokens"),
    cachedTokens: count("cachedTokens"),
    reasoningTokens: count("reasoningTokens"),
    inputCost: cost("inputCost"),
    outputCost: cost("outputCost"),
    totalCost: cost("totalCost"),
    ...(isSaved && { savedCost: cost("savedCost") }),
    ...(isEstimated && { estimatedCost: cost("estimatedCost") }),
  };
}

type Counted = "inputTokens" | "outputTokens" | "cachedTokens" | "reasoningTokens";
type Priced = "inputCost" | "outputCost" | "totalCost" | "estimatedCost" | "savedCost";

/** Dollars for a million tokens are millionths of a dollar for one. */
function micros(price: string): bigint {
  return scaled(price, 6);
}

function trillionths(dollars = "0"): bigint {
  return scaled(dollars, 12);
}

function scaled(text: string, digits: number): bigint {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`"${text}" is not a decimal number`);
  return BigInt(`${sign}${whole}${fraction.padEnd(digits, "0").slice(0, digits)}`);
}

function decimal(amount: bigint): string {
  if (amount < 0n) return `-${decimal(-amount)}`;
  const digits = amount.toString().padStart(13, "0");
  const fraction = digits.slice(-12).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -12) : `${digits.slice(0, -12)}.${fraction}`;
}
