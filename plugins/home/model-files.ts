/** The operator's `models.json`: what models cost that the shipped table does not know, or knows otherwise. */
import { Fault } from "../../kernel/plugin.ts";
import { FETCHED_MODELS_FILE, MAX_BYTES, MODELS_FILE, type OperatorFiles } from "./files.ts";
import { type OperatorTables, parseModelTable } from "./model-table.ts";

/** Throws a fault of kind `config` if there is a table that cannot be used. */
export async function readModels({ read }: Pick<OperatorFiles, "read">): Promise<OperatorTables> {
  if ((await read("prices.json", MAX_BYTES)) !== undefined) {
    const message = `prices.json is not read any more: write its models to ${MODELS_FILE}, as {"models": {"my-model": {"window": 32000, "prices": [{"input": "0.5", "output": "1.5"}]}}}, and remove it`;
    throw new Fault("config", "old_prices", message, { param: "prices.json" });
  }
  const [own, fetched] = await Promise.all(
    [MODELS_FILE, FETCHED_MODELS_FILE].map(async (name) => {
      const text = await read(name, MAX_BYTES);
      return text === undefined ? undefined : parseModelTable(text, name);
    }),
  );
  return { ...(fetched && { fetched }), ...(own && { own }) };
}
