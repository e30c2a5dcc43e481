/** What is stored of settings, for commands that start nothing: no table is made, no node joins, the service may run. */
import { existsSync } from "node:fs";
import type { Settings } from "../../../kernel/settings/env.ts";
import { fileOf, readStoreSettings, type StoreSettings } from "../config/settings.ts";
import { loadKeys } from "../keys/secrets-key.ts";
import { lookIntoShared } from "../postgres/reading.ts";
import { changeable, type LiveReader, layer } from "./layers.ts";
import { describe } from "./proposal.ts";
import { decode, PURPOSE, READ, type SettingRow } from "./rows.ts";

export interface Peeked {
  /** The environment and `.env` over what is stored. Nothing of it has been read yet. */
  readonly settings: Settings;
  /** Why stored values do not count, in words. */
  readonly ignored: ReadonlyMap<string, string>;
}

export async function peekStored(
  given: Settings,
  home: string,
  readers: readonly LiveReader[],
): Promise<Peeked> {
  const bare = given.over(new Map());
  const store = readStoreSettings(bare.for("store"));
  // What keeps the store from being found is told by who reads its settings.
  const rows = bare.problems.length > 0 ? [] : await readRows(bare, store, home).catch(() => []);
  const key = async () => (await loadKeys(home, store.secretsKey)).derive(PURPOSE);
  const { stored, unreadable } = await decode(rows, changeable(given, readers), key);
  const layered = layer(given, readers, stored);
  const ignored = new Map(unreadable);
  for (const [name, problem] of layered.ignored) ignored.set(name, `${problem.name}: ${describe(problem)}`);
  return { settings: given.over(layered.stored), ignored };
}

async function readRows(bare: Settings, store: StoreSettings, home: string): Promise<readonly SettingRow[]> {
  if (store.engine === "sqlite") {
    const file = fileOf(store, home);
    if (!existsSync(file)) return [];
    const { readTable } = await import("../sqlite/store.ts");
    return readTable<SettingRow>(file, "settings");
  }
  const { shared, close } = await lookIntoShared(bare.for("store"));
  try {
    if (shared === undefined || shared === "unreachable" || !(await shared.has("settings"))) return [];
    return await shared.sql.all<SettingRow>(READ);
  } finally {
    await close();
  }
}
