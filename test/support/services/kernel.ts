/** The real kernel in this process, with the plugins of the test. */
import { inject } from "vitest";
import { type BootOptions, boot, type Running } from "../../../kernel/kernel.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { Settings, type Variables } from "../../../kernel/settings/env.ts";
import { temporaryHome } from "../home.ts";
import type {} from "../run/postgres.ts";
import { afterThisTest, type Later } from "../undo.ts";
import { withTables } from "./migrated-store.ts";

export interface BootedKernel extends Running {
  readonly home: string;
  /** Every log line so far. */
  readonly logged: readonly string[];
}

export async function bootKernel(
  plugins: readonly AnyPlugin[],
  variables: Variables = {},
  options: Partial<BootOptions> = {},
  later: Later = afterThisTest,
): Promise<BootedKernel> {
  const logged: string[] = [];
  const mask = createMask();
  const home = options.home ?? temporaryHome(later);
  const log = createLog("debug", mask, { pretty: false, write: (line) => void logged.push(line) });
  const isPostgres = inject("storeEngine") === "postgres";
  const stored = isPostgres ? await databaseOf(home, later) : {};
  const settings = new Settings({ ...stored, ...variables }, {}, mask.add);
  const isNew = options.home === undefined && !isPostgres && variables["STORE_URL"] === undefined;
  const given = isNew ? await withTables(plugins, home) : plugins;
  const running = await boot({
    plugins: given,
    settings,
    home,
    log,
    mask,
    version: "0.0.0-test",
    ...options,
  });
  later(() => running.stop());
  return Object.assign(Object.create(running, {}) as Running, { home, logged });
}

const urls = new Map<string, string>();

/** In the project `postgres` the store of a home is a database, which a second boot in the same home finds again. */
async function databaseOf(home: string, later: Later): Promise<Variables> {
  let url = urls.get(home);
  if (url === undefined) {
    const { emptyDatabase } = await import("../processes/postgres/database.ts");
    url = await emptyDatabase(later);
    urls.set(home, url);
  }
  return { STORE_URL: url, POSTERN_SECRETS_KEY: "07".repeat(32) };
}
