/** The store as a plugin: one SQLite file in the home, or PostgreSQL for any number of nodes. */
import { closeSync, openSync } from "node:fs";
import { definePlugin } from "../plugin.ts";
import type { OpenStore } from "./open-store.ts";
import { makePrivate } from "./ownership.ts";
import { loadKey } from "./secrets-key.ts";
import { fileOf, readStoreSettings, type StoreSettings } from "./settings.ts";
import { openStore } from "./sqlite/store.ts";

export default definePlugin({
  name: "store",
  needs: ["kernel"],
  provides: ["store"],
  commands: [
    {
      name: "store",
      about: "copy, back up and restore everything that is kept",
      example: "postern store backup postern.backup",
      load: async () => (await import("./commands.ts")).register,
    },
  ],
  configure: readStoreSettings,
  diagnose: async ({ config, home }) =>
    config.engine === "postgres"
      ? (await import("./diagnosis.ts")).examinePostgres(config.settings)
      : (await import("./diagnosis.ts")).examineFile(fileOf(config, home), config.durability),
  async start({ config, use, home, onStop, check, announce }) {
    const store = await open(config, home, use.kernel.serving);
    onStop(() => store.close());
    check("store", () => store.probe());
    announce(store.name);
    return { store };
  },
});

async function open(config: StoreSettings, home: string, serves: boolean): Promise<OpenStore> {
  if (config.engine === "postgres") {
    const { openPostgresStore } = await import("./postgres/store.ts");
    return openPostgresStore(config.settings, {
      secretsKey: await loadKey(home, config.secretsKey),
      serves,
    });
  }
  const file = fileOf(config, home);
  // SQLite would let the whole machine read a new one, and what it writes beside it.
  if (file !== ":memory:") closeSync(openSync(file, "a", 0o600));
  makePrivate([file, `${file}-wal`, `${file}-shm`], "STORE_URL");
  return openStore(file, {
    durability: config.durability,
    secretsKey: () => loadKey(home, config.secretsKey),
  });
}
