/** Tokens to US dollars, exactly: whole numbers of a trillionth of a dollar, printed as decimals. */
import type { ModelName, Services, Usage } from "../../../kernel/plugin.ts";
import type { TokenCount } from "../services.ts";
import shipped from "./prices.json" with { type: "json" };

type HomeFiles = Services["homeFiles"];
type Price = Awaited<ReturnType<HomeFiles["prices"]>>[string];

export interface Prices {
  find(model: ModelName): Price | undefined;
  /** It costs something, and nobody has said how much: no cap counts it. */
  isUnknown(model: ModelName): boolean;
  add(usage: Usage, model: ModelName, tokens: TokenCount): Usage;
}

/** Runs on the operator's own machine. */
function isFree({ provider }: ModelName): boolean {
  return provider === "builtin" || provider === "ollama";
}

/** The shipped table; the operator's `prices.json` adds to it and wins. */
export async function readPrices(
  files: Pick<HomeFiles, "prices">,
): Promise<Prices & { readAgain(): Promise<void> }> {
  let table: Readonly<Record<string, Price>> = {};
  let names: readonly string[] = [];
  const readAgain = async () => {
    table = { ...shipped.models, ...(await files.prices()) };
    // Longest first: "gpt-5-mini" must not be taken for a dated "gpt-5".
    names = Object.keys(table).sort((a, b) => b.length - a.length);
  };
  await readAgain();

  const find = (model: ModelName): Price | undefined => {
    if (isFree(model)) return undefined;
    const bare = model.name.slice(model.name.lastIndexOf("/") + 1).toLowerCase();
    const known = names.find((candidate) => bare === candidate || bare.startsWith(`${candidate}-`));
    return known === undefined ? undefined : table[known];
  };

  return {
    readAgain,
    find,
    isUnknown: (model) => !isFree(model) && find(model) === undefined,
    add(usage, model, tokens) {
      const price = find(model);
      const counted = {
        inputTokens: usage.inputTokens + tokens.inputTokens,
        outputTokens: usage.outputTokens + tokens.outputTokens,
        cachedTokens: usage.cachedTokens + tokens.cachedTokens,
        reasoningTokens: usage.reasoningTokens + tokens.reasoningTokens,
      };
      if (price === undefined) return { ...usage, ...counted };
      const fresh = Math.max(0, tokens.inputTokens - tokens.cachedTokens);
      const input =
        BigInt(fresh) * micros(price.input) +
        BigInt(tokens.cachedTokens) * micros(price.cached ?? price.input);
      const output = BigInt(tokens.outputTokens) * micros(price.output);
      return {
        ...counted,
        inputCost: decimal(trillionths(usage.inputCost) + input),
        outputCost: decimal(trillionths(usage.outputCost) + output),
        totalCost: decimal(trillionths(usage.totalCost) + input + output),
      };
    },
  };
}

export function addUsage(one: Usage, other: Usage): Usage {
  const count = (name: Counted) => one[name] + other[name];
  const cost = (name: Priced) => decimal(trillionths(one[name]) + trillionths(other[name]));
  return {
    inputTokens: count("inputTokens"),
    outputTokens: count("outputTokens"),
    cachedTokens: count("cachedTokens"),
    reasoningTokens: count("reasoningTokens"),
    inputCost: cost("inputCost"),
    outputCost: cost("outputCost"),
    totalCost: cost("totalCost"),
  };
}

type Counted = "inputTokens" | "outputTokens" | "cachedTokens" | "reasoningTokens";
type Priced = "inputCost" | "outputCost" | "totalCost";

/** Dollars for a million tokens are millionths of a dollar for one. */
function micros(price = "0"): bigint {
  return scaled(price, 6);
}

function trillionths(dollars: string): bigint {
  return scaled(dollars, 12);
}

function scaled(text: string, digits: number): bigint {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) throw new Error(`"${text}" is not a decimal number`);
  return BigInt(`${match[1]}${(match[2] ?? "").padEnd(digits, "0").slice(0, digits)}`);
}

function decimal(amount: bigint): string {
  const digits = amount.toString().padStart(13, "0");
  const fraction = digits.slice(-12).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -12) : `${digits.slice(0, -12)}.${fraction}`;
}
