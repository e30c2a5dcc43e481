/** Reads models.dev's `api.json` as a table of models. What it does not say, such as when a model retires, is kept from an earlier table. */
import { isRecord } from "../../../kernel/kit/text.ts";
import type { ModelRow, ModelTable, PriceRow } from "../../home/services.ts";

/** Those that made the models: what others charge for the same model is not said by its name. */
const PROVIDERS = [
  ...["anthropic", "openai", "google", "xai", "deepseek", "mistral", "alibaba", "moonshotai", "zai", "meta"],
];
/** Names that move to another model, dated copies, and models that come and go. */
const UNSTABLE = /latest|preview|experimental|-\d{4,8}$|-\d{4}-\d{2}-\d{2}$/;

interface Rates {
  readonly input?: number;
  readonly output?: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
}

interface DevModel {
  readonly id: string;
  readonly tool_call?: boolean;
  readonly temperature?: boolean;
  readonly status?: string;
  readonly modalities?: { readonly input?: readonly string[]; readonly output?: readonly string[] };
  readonly reasoning_options?: readonly { readonly type: string; readonly values?: readonly string[] }[];
  readonly limit?: { readonly context?: number; readonly input?: number; readonly output?: number };
  readonly cost?: Rates & {
    readonly tiers?: readonly (Rates & { readonly tier: { readonly type: string; readonly size: number } })[];
    readonly context_over_200k?: Rates;
  };
}

export function isModelsDev(document: unknown): boolean {
  return PROVIDERS.some((name) => isRecord(Object(document)[name]));
}

/** Rows of `known` that the document does not have stay; its own words win for all that it says. */
export function readModelsDev(document: unknown, known: ModelTable, date: string): ModelTable {
  const providers = document as Readonly<
    Record<string, { readonly models?: Readonly<Record<string, DevModel>> }>
  >;
  const models: Record<string, ModelRow> = { ...known.models };
  for (const provider of PROVIDERS)
    for (const [id, model] of Object.entries(providers[provider]?.models ?? {}))
      if (id in models || isWorthARow(id, model)) models[id] = readModel(provider, model, models[id]);
  const rows = Object.entries(models).toSorted(([a, one], [b, other]) =>
    `${PROVIDERS.indexOf(one.provider ?? "")} ${a}`.localeCompare(
      `${PROVIDERS.indexOf(other.provider ?? "")} ${b}`,
    ),
  );
  const { defaults } = known;
  return { date, ...(defaults && { defaults }), models: Object.fromEntries(rows) };
}

function isWorthARow(id: string, { tool_call, status, modalities, cost }: DevModel): boolean {
  const speaks = modalities?.output?.includes("text") === true && modalities.output.length === 1;
  return (
    tool_call === true && speaks && (cost?.input ?? 0) > 0 && status !== "deprecated" && !UNSTABLE.test(id)
  );
}

function readModel(provider: string, model: DevModel, known: ModelRow = {}): ModelRow {
  const { limit, cost, modalities, reasoning_options = [], temperature } = model;
  const levels = reasoning_options.find(({ type }) => type === "effort")?.values;
  const inputs = (["image", "file", "audio"] as const).filter((kind) =>
    modalities?.input?.includes(kind === "file" ? "pdf" : kind),
  );
  const window = limit?.input ?? limit?.context;
  const hasDates = known.prices?.some(({ from, until }) => from ?? until) === true;
  const prices = hasDates || cost === undefined ? known.prices : readPrices(provider, cost);
  return {
    provider,
    ...(window !== undefined && { window }),
    ...(limit?.output !== undefined && { output: limit.output }),
    ...(prices !== undefined && { prices }),
    inputs,
    ...(levels !== undefined && levels.length > 0 && { levels }),
    ...(temperature === false && { sampling: false }),
    ...(known.tools && { tools: known.tools }),
    ...(known.retires && { retires: known.retires }),
    ...(known.replaced_by && { replaced_by: known.replaced_by }),
  };
}

function readPrices(
  provider: string,
  { tiers = [], context_over_200k: over, ...rates }: NonNullable<DevModel["cost"]>,
) {
  const dear = tiers.flatMap(({ tier, ...each }) =>
    tier.type === "context" ? [{ above: tier.size, ...each }] : [],
  );
  const older = tiers.length === 0 && over !== undefined ? [{ above: 200_000, ...over }] : [];
  return [rates, ...dear, ...older].map((each) => readRates(provider, each));
}

function readRates(provider: string, rates: Rates & { readonly above?: number }): PriceRow {
  const { above, input = 0, output = 0, cache_read: read, cache_write: write } = rates;
  return {
    ...(above !== undefined && { above }),
    input: decimal(input),
    output: decimal(output),
    ...(read && { read: decimal(read) }),
    ...(write && { write: decimal(write) }),
    // Anthropic charges twice the input for it, which models.dev has no field for.
    ...(write && provider === "anthropic" && { write_1h: decimal(input * 2) }),
  };
}

/** Prices are written with at most six digits, which a number still has exactly. */
function decimal(price: number): string {
  return String(Number(price.toFixed(6)));
}
