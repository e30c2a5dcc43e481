/** A new home whose store has its tables: the first service of each composition makes them, and they are kept. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import type { Store } from "../../../plugins/store/services.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";

type Migrations = Parameters<Store["tables"]>[1];

interface Composition {
  readonly tables: Map<string, Migrations>;
  /** An empty store with these tables. */
  file?: Promise<Buffer> | undefined;
}

/** By the names of its plugins. What a test makes itself may have other tables of the same owner. */
const compositions = new Map<string, Composition>();
export const SHIPPED: ReadonlySet<string> = new Set([
  ...["store", "accounts", "agent", "gateway", "mcp", "page", "responses", "tools", "webhook"],
  ...[
    "home",
    "models",
    "memory",
    "memory-tools",
    "workspace",
    "workspace-tools",
    "guidance",
    "provenance",
    "jobs",
  ],
  ...["terminal", "test-tools"],
]);

/** Puts a migrated store into the home where there is one; answers the plugins to boot with. */
export async function withTables(plugins: readonly AnyPlugin[], home: string): Promise<readonly AnyPlugin[]> {
  if (!plugins.includes(store as AnyPlugin) || !plugins.every(({ name }) => SHIPPED.has(name)))
    return plugins;
  const key = plugins.map(({ name }) => name).join();
  const known: Composition = compositions.get(key) ?? { tables: new Map() };
  compositions.set(key, known);
  if (known.tables.size > 0) {
    known.file ??= migrate(known.tables);
    writeFileSync(join(home, "store.sqlite"), await known.file, { mode: 0o600 });
  }
  const recording: AnyPlugin = {
    ...(store as AnyPlugin),
    async start(context) {
      const services = await (store as AnyPlugin).start(context);
      const { store: opened, ...others } = services as { readonly store: Store };
      const tables: Store["tables"] = (owner, migrations) => {
        if (!known.tables.has(owner)) known.file = undefined;
        known.tables.set(owner, migrations);
        return opened.tables(owner, migrations);
      };
      return { ...others, store: Object.assign(Object.create(opened) as Store, { tables }) };
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
