/** The store as a plugin: one SQLite file in the home, or PostgreSQL for any number of nodes. */

import { closeSync, openSync } from "node:fs";
import { type Keyring, makePrivate, type StoredSettings, type StoreHealth } from "../../kernel/kit.ts";
import { definePlugin, type Store } from "../../kernel/plugin.ts";
import { fileOf, readStoreSettings, type StoreSettings } from "./config/settings.ts";
import type { OpenStore } from "./engine/open-store.ts";
import { loadKeys } from "./keys/secrets-key.ts";
import { MAINTENANCE_TABLES } from "./maintenance/growth.ts";
import { openStore } from "./sqlite/store.ts";
import { SEALED, SETTING_TABLES } from "./stored-settings/rows.ts";
import { openStoredSettings } from "./stored-settings/stored-settings.ts";

declare module "../../kernel/plugin.ts" {
  interface Services {
    store: Store;
    /** Settings that can be changed while the service runs. */
    settings: StoredSettings;
    storeHealth: StoreHealth;
  }
}

export default definePlugin({
  name: "store",
  needs: ["kernel"],
  provides: ["store", "settings", "storeHealth"],
  configure: readStoreSettings,
  async start({ config, use, home, log, onStop, check, announce }) {
    const store = await open(config, home, use.kernel.serving);
    onStop(() => store.close());
    check("store", () => store.probe());
    announce(store.name);
    const settings = await openStoredSettings({
      ...use.kernel.settings,
      store,
      log,
      watches: use.kernel.stays,
    });
    onStop(() => settings.close());
    const file = config.engine === "postgres" ? undefined : fileOf(config, home);
    // Only the service maintains the store, and one in memory needs no maintenance.
    if (!use.kernel.serving || file === ":memory:")
      return { store, settings, storeHealth: { describe: async () => undefined } };
    const { startMaintenance } = await import("./maintenance/maintenance.ts");
    const { given } = use.kernel.settings;
    const maintenance = await startMaintenance({
      store,
      file,
      home,
      clock: use.kernel.clock,
      backup: config.backup,
      retention: config.retention,
      tables: use.kernel.tables,
      environment: given.textsOf("store"),
      log,
    });
    onStop(() => maintenance.close());
    return { store, settings, storeHealth: maintenance };
  },
  operations: {
    commands: [
      {
        name: "store",
        about: "copy, back up, restore and prune everything that is kept",
        example: "postern store backup postern.backup",
        load: async () => (await import("./commands/store.ts")).register,
      },
      {
        name: "secrets",
        about: "change the key that secrets are sealed under",
        example: "postern secrets rotate",
        load: async () => (await import("./commands/rotate.ts")).register,
      },
    ],
    tables: async () => [
      { owner: "settings", migrations: SETTING_TABLES, sealed: [SEALED] },
      { owner: "maintenance", migrations: MAINTENANCE_TABLES },
    ],
    diagnose: async (context) => (await import("./maintenance/diagnosis.ts")).examineStore(context),
  },
});

async function open(config: StoreSettings, home: string, serves: boolean): Promise<OpenStore> {
  if (config.engine === "postgres") {
    const { openPostgresStore } = await import("./postgres/store.ts");
    return openPostgresStore(config.settings, {
      secretsKey: await loadKeys(home, config.secretsKey),
      serves,
    });
  }
  const file = fileOf(config, home);
  // SQLite would let the whole machine read a new one, and what it writes beside it.
  if (file !== ":memory:") closeSync(openSync(file, "a", 0o600));
  makePrivate([file, `${file}-wal`, `${file}-shm`], "STORE_URL");
  let keys: Promise<Keyring> | undefined;
  return openStore(file, {
    durability: config.durability,
    secretsKey: () => {
      keys ??= loadKeys(home, config.secretsKey);
      // What is wrong with the file may be fixed while the service runs.
      keys.catch(() => {
        keys = undefined;
      });
      return keys;
    },
  });
}
