/** The operator's `prices.json`: what models cost that the shipped table does not know, or knows otherwise. */
import { Fault, reason } from "../../kernel/plugin.ts";
import { PRICES_FILE } from "./files.ts";
import type { Price } from "./services.ts";

/** Throws where it is not a price table. */
export function parsePrices(text: string | undefined): Readonly<Record<string, Price>> {
  if (text === undefined) return {};
  try {
    const { models } = JSON.parse(text) as { models: Record<string, Price> };
    for (const { input, output, cached } of Object.values(models))
      for (const price of [input, output, cached ?? "0"])
        if (!/^\d+(?:\.\d+)?$/.test(price)) throw new Error(`"${price}" is not a decimal number`);
    return models;
  } catch (error) {
    const message = `${PRICES_FILE} is not a price table like {"models": {"name": {"input": "1.25", "output": "10"}}}: ${reason(error)}`;
    throw new Fault("config", "bad_prices", message, { param: PRICES_FILE });
  }
}
