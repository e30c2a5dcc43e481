/** The engines of the store, for what has to hold on each of them. */
import { join } from "node:path";
import { describe } from "vitest";
import { readPostgresUrl } from "../../../plugins/store/config/postgres-url.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { openPostgresStore } from "../../../plugins/store/postgres/store.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { temporaryHome } from "../home.ts";
import { afterThisTest, type Later } from "../undo.ts";
import { describePostgres, freshDatabase } from "./postgres/database.ts";

/** A place for a store, empty at first. Each `open` is another node on it, closed when it is no longer needed. */
export interface StorePlace {
  /** For `STORE_URL`. */
  readonly url: string;
  open(): Promise<OpenStore>;
}

const SECRETS_KEY = new Uint8Array(32).fill(7);

/** Runs the tests once for each engine. */
export function describeEngines(
  title: string,
  tests: (engine: "sqlite" | "postgres", fresh: (later?: Later) => Promise<StorePlace>) => void,
  makeDatabase = freshDatabase,
): void {
  describe(`${title}, on SQLite`, () => {
    tests("sqlite", async (later = afterThisTest) => {
      const file = join(temporaryHome(later), "store.sqlite");
      const open = async () => openStore(file, { secretsKey: async () => SECRETS_KEY });
      return { url: `sqlite://${file}`, open: () => closing(open(), later) };
    });
  });
  describePostgres(`${title}, on PostgreSQL`, () => {
    tests("postgres", async (later = afterThisTest) => {
      const url = await makeDatabase(later);
      return { url, open: () => closing(openPostgres(url), later) };
    });
  });
}

/** `serves`: false for a command beside the nodes. */
export function openPostgres(url: string, secretsKey = SECRETS_KEY, serves = true) {
  const settings = readPostgresUrl(url, { poolSize: 4, statementSecs: 30, tls: "prefer" });
  if (typeof settings === "string") throw new Error(settings);
  return openPostgresStore(settings, { secretsKey, serves });
}

async function closing(opening: Promise<OpenStore>, later: Later): Promise<OpenStore> {
  const store = await opening;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= store.close();
    return closed;
  };
  later(close);
  return { ...store, close };
}
