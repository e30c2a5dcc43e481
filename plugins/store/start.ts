/** Opens the store, the settings in it and its maintenance. */
import type { StartContext } from "../../kernel/plugin.ts";
import { fileOf, type StoreSettings } from "./config/settings.ts";
import type { OpenStore } from "./engine/open-store.ts";
import { loadKeys } from "./keys/secrets-key.ts";
import { openHomeStore } from "./sqlite/home-store.ts";
import { openStoredSettings } from "./stored-settings/stored-settings.ts";
import { createUserStorage } from "./user-storage.ts";

type StoreContext = StartContext<StoreSettings, "kernel", never>;

export async function startStore({
  config,
  use: { kernel },
  home,
  log,
  onStop,
  check,
  announce,
}: StoreContext) {
  const file = config.engine === "postgres" ? undefined : fileOf(config, home);
  const places = [file, config.backupFolder].filter((place) => place !== undefined);
  const store = Object.assign(await open(config, home, kernel.serving), { places });
  onStop(() => store.close());
  check("store", () => store.probe());
  announce(store.name);
  const settings = await openStoredSettings({ ...kernel.settings, store, log, watches: kernel.stays });
  onStop(() => settings.close());
  const storage = createUserStorage(store, kernel.tables, config.userBytes);
  // Only the service maintains the store, and one in memory needs no maintenance.
  if (!kernel.serving || file === ":memory:")
    return { store, settings, storage, storeHealth: { describe: async () => undefined } };
  const { startMaintenance } = await import("./maintenance/maintenance.ts");
  const { clock, tables } = kernel;
  const { backup, retention } = config;
  const environment = kernel.settings.given.textsOf("store");
  const maintenance = await startMaintenance({
    ...{ store, file, home, clock, backup, retention, tables, environment, log },
  });
  onStop(() => maintenance.close());
  return { store, settings, storage, storeHealth: maintenance };
}

async function open(config: StoreSettings, home: string, serves: boolean): Promise<OpenStore> {
  if (config.engine === "postgres") {
    const { openPostgresStore } = await import("./postgres/store.ts");
    const secretsKey = await loadKeys(home, config.secretsKey);
    return openPostgresStore(config.settings, { secretsKey, serves });
  }
  const { durability, secretsKey } = config;
  return openHomeStore(home, { file: fileOf(config, home), durability, secretsKey });
}
