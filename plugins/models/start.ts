/** Makes the services of the configured models: they follow the settings and the operator's prices. */
import { join } from "node:path";
import { reason, type Services, type StartContext } from "../../kernel/plugin.ts";
import { createBuiltinModel } from "./builtin/model.ts";
import { createModelCatalog } from "./choice/catalog.ts";
import { createModelCheck } from "./choice/check.ts";
import { createModels, readModelChoice } from "./choice/choose.ts";
import { streamSteadily } from "./providers/retry.ts";
import type { Model } from "./services.ts";
import { type ModelSettings, readCap } from "./settings.ts";
import { addUsage, readPrices } from "./spending/prices.ts";
import { createSpending, MIGRATIONS } from "./spending/spending.ts";

export async function startModels({
  use: { store, settings, kernel, homeFiles },
  home,
  log,
  onStop,
  announce,
  tell,
}: StartContext<ModelSettings, "store" | "settings" | "kernel" | "homeFiles", never>): Promise<
  Pick<Services, "models" | "modelCheck">
> {
  const prices = await readPrices(homeFiles);
  onStop(
    homeFiles.onChange(() => void prices.readAgain().catch((error) => log.warn({ error }, reason(error)))),
  );
  const [sql, choice, cap] = await Promise.all([
    store.tables("models", MIGRATIONS),
    settings.live("models", readModelChoice),
    settings.live("models", readCap),
  ]);
  const builtin = createBuiltinModel();
  const models = createModels(choice, builtin, prices, log);
  const dailyCap = async () => (await cap.current()).dailyUsdCap;

  const warned = new Set<string>();
  const warnUncounted = (what: string, chain: readonly Model[]): void => {
    const names = chain.flatMap(({ name }) => (prices.isUnknown(name) ? [name.name] : [])).join(", ");
    if (names === "" || warned.has(`${what} ${names}`)) return;
    warned.add(`${what} ${names}`);
    log.warn(`${what} does not count ${names}: add the price to ${join(home, "prices.json")}`);
  };

  const show = () => announce(`${models.name().name} (${models.name().provider})`);
  const follow = async () => {
    const chain = await models.current();
    show();
    if (cap.last().dailyUsdCap !== undefined) warnUncounted("DAILY_USD_CAP", chain);
  };
  show();
  const isMissing = () => choice.last().provider === "auto" && models.name().provider === "builtin";
  void follow().then(() => {
    if (isMissing())
      tell('No language model is set up: run "postern setup", or choose one on the page under Settings.');
  });
  onStop(choice.onChange(() => void follow()));
  onStop(cap.onChange(() => void follow()));

  return {
    models: {
      name: models.name,
      current: models.current,
      ...createModelCatalog({ models, prices, capUsd: dailyCap }),
      stream: streamSteadily,
      addCost: prices.add,
      addUsage,
      dailyCap,
      ...createSpending(sql),
      warnUncounted,
    },
    modelCheck: createModelCheck({ settings, builtin, prices, mask: kernel.mask, log, isMissing }),
  };
}
