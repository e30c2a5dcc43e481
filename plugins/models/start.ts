/** Makes the services of the configured models: they follow the settings and what the operator says of models. */
import { typedCommand } from "../../kernel/kit/terminal.ts";
import { reason, type Services, type StartContext } from "../../kernel/plugin.ts";
import { createBuiltinModel } from "./builtin/model.ts";
import { createModelCatalog } from "./choice/catalog.ts";
import { createModelCheck } from "./choice/check.ts";
import { createModels, readModelChoice } from "./choice/choose.ts";
import { createDefaults, KEPT_DEFAULTS } from "./choice/default-model.ts";
import { openLessons } from "./providers/lessons.ts";
import { streamSteadily } from "./providers/retry.ts";
import { type ModelSettings, readCap } from "./settings.ts";
import { addUsage, readPrices } from "./spending/prices.ts";
import { createSpending, MIGRATIONS } from "./spending/spending.ts";

export async function startModels({
  use: { store, settings, kernel, homeFiles },
  log,
  onStop,
  announce,
  tell,
}: StartContext<ModelSettings, "store" | "settings" | "kernel" | "homeFiles", never>): Promise<
  Pick<Services, "models" | "modelCheck">
> {
  const prices = await readPrices(homeFiles);
  const [sql, choice, cap] = await Promise.all([
    store.tables("models", MIGRATIONS),
    settings.live("models", readModelChoice),
    settings.live("models", readCap),
  ]);
  const builtin = createBuiltinModel();
  const say = (line: string) => {
    log.warn(line);
    tell(line);
  };
  const defaults = createDefaults(prices, store.keyed(KEPT_DEFAULTS), say);
  const lessonsOf = await openLessons(store.keyed("model-lessons"), (error) =>
    log.warn({ error }, `what a model's server taught could not be kept: ${reason(error)}`),
  );
  const models = createModels(choice, { builtin, prices, defaults, lessonsOf, log, say });
  const dailyCap = async () => (await cap.current()).dailyUsdCap;

  const show = () => announce(`${models.name().name} (${models.name().provider})`);
  const follow = async () => {
    await models.current();
    show();
  };
  show();
  const isMissing = () => choice.last().provider === "auto" && models.name().provider === "builtin";
  void follow().then(() => {
    if (isMissing())
      tell(
        `No language model is set up: run "${typedCommand()} setup", or choose one on the page under Settings.`,
      );
  });
  onStop(choice.onChange(() => void follow()));
  const readAgain = async () => {
    // Other files of the home change, too: new models would forget what keeps a provider's cache of a thread.
    if (!(await prices.readAgain())) return;
    models.renew();
    await follow();
  };
  onStop(homeFiles.onChange(() => void readAgain().catch((error) => log.warn({ error }, reason(error)))));

  return {
    models: {
      name: models.name,
      current: models.current,
      ...createModelCatalog({ models, prices }),
      stream: streamSteadily,
      addCost: (usage, model, tokens) => prices.add(usage, model, tokens, models.isLocal(model)),
      addUsage,
      dailyCap,
      ...createSpending(sql),
    },
    modelCheck: createModelCheck({ settings, builtin, prices, mask: kernel.mask, log, isMissing }),
  };
}
