/** The store as a plugin: one SQLite file in the home, or PostgreSQL for any number of nodes. */
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "../plugin.ts";
import type { OpenStore } from "./open-store.ts";
import { makePrivate } from "./ownership.ts";
import { type PostgresSettings, readPostgresSettings } from "./postgres/settings.ts";
import { loadKey, readSecretsKey } from "./secrets-key.ts";
import type { Durability } from "./sqlite/commits.ts";
import { openStore } from "./sqlite/store.ts";

/** Where the store is: a file, the home's own where none is named, or a database. */
type Config = { readonly secretsKey: string | undefined } & (
  | { readonly engine: "sqlite"; readonly file: string | undefined; readonly durability: Durability }
  | { readonly engine: "postgres"; readonly settings: PostgresSettings }
);

export default definePlugin({
  name: "store",
  needs: ["kernel"],
  provides: ["store"],
  configure: (env): Config => {
    const url = env.connection(
      "STORE_URL",
      "Where state is kept: sqlite://<file>, or postgres://<user>:<password>@<host>/<database> for any number of nodes; default store.sqlite in the home",
    );
    const durability = env.oneOf(
      "STORE_SYNC",
      ["full", "normal"],
      "full",
      "Whether a commit on SQLite waits for the disk: normal is faster, and a power cut loses the last moments",
    );
    const secretsKey = readSecretsKey(env);
    const settings = readPostgresSettings(env, url);
    if (settings !== undefined) {
      if (secretsKey === undefined)
        env.refuse(
          "POSTERN_SECRETS_KEY",
          "the key that all nodes on PostgreSQL share (openssl rand -base64 32)",
        );
      return { engine: "postgres", settings, secretsKey };
    }
    if (url !== undefined && !/^(sqlite|postgres|postgresql):\/\/.+/i.test(url))
      env.refuse("STORE_URL", "sqlite://<path to a file> or postgres://<user>:<password>@<host>/<database>");
    return { engine: "sqlite", file: url?.replace(/^sqlite:\/\//, ""), durability, secretsKey };
  },
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

async function open(config: Config, home: string, serves: boolean): Promise<OpenStore> {
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

const fileOf = ({ file }: { readonly file: string | undefined }, home: string): string =>
  file ?? join(home, "store.sqlite");
