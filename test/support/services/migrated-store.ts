/**
 * A new home whose store has its tables already. Making them takes longer than most tests of a service: the first service of
 * each composition in a process makes them itself, and what its migrations made of an empty store is kept for the next.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyPlugin, Store } from "../../../kernel/plugin.ts";
import { openStore } from "../../../kernel/store/sqlite/store.ts";
import store from "../../../kernel/store/store.ts";

type Migrations = Parameters<Store["tables"]>[1];

interface Composition {
  readonly tables: Map<string, Migrations>;
  file?: Promise<Buffer>;
}

/** By the names of its plugins: another that a test makes may have tables of the same owner. */
const compositions = new Map<string, Composition>();
export const SHIPPED: ReadonlySet<string> = new Set([
  "store",
  "agent",
  "gateway",
  "responses",
  "webhook",
  "mcp",
  "test-tools",
]);

/** Puts a migrated store into the home where there is one; answers the plugins to boot with. */
export async function withTables(plugins: readonly AnyPlugin[], home: string): Promise<readonly AnyPlugin[]> {
  if (!plugins.includes(store as AnyPlugin) || !plugins.every(({ name }) => SHIPPED.has(name)))
    return plugins;
  const key = plugins.map(({ name }) => name).join();
  const known = compositions.get(key);
  if (known !== undefined) {
    known.file ??= migrate(known.tables);
    writeFileSync(join(home, "store.sqlite"), await known.file, { mode: 0o600 });
    return plugins;
  }
  const tables = new Map<string, Migrations>();
  const recording: AnyPlugin = {
    ...(store as AnyPlugin),
    async start(context) {
      const services = await (store as AnyPlugin).start(context);
      const { store: opened } = services as { readonly store: Store };
      const asked: Store["tables"] = (owner, migrations) => {
        tables.set(owner, migrations);
        return opened.tables(owner, migrations);
      };
      // Also when all of them have started: some ask at their first use.
      compositions.set(key, { tables });
      return { store: Object.assign(Object.create(opened) as Store, { tables: asked }) };
    },
  };
  return plugins.map((plugin) => (plugin === store ? recording : plugin));
}

async function migrate(tables: ReadonlyMap<string, Migrations>): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "postern-tables-"));
  try {
    const file = join(folder, "store.sqlite");
    const opened = openStore(file, { durability: "normal" });
    for (const [owner, migrations] of tables) await opened.tables(owner, migrations);
    await opened.close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
