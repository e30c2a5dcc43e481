/** Settings as rows. Secrets are sealed together with where they may be sent. */
import { type SealingKey, seal, unseal } from "../../../kernel/kit/secrets.ts";
import type { Setting, StoredValue, StoredValues } from "../../../kernel/kit/settings.ts";
import { defineTables, type SealedPlace } from "../../../kernel/kit/store.ts";
import { type Queries, reason } from "../../../kernel/plugin.ts";

export const SETTING_TABLES = defineTables(
  ({ text, integer, keyed }) => `CREATE TABLE settings (
    name ${text} PRIMARY KEY, value ${text} NOT NULL, sealed ${integer} NOT NULL, updated_at ${text} NOT NULL
  ) ${keyed}`,
);

/** The purpose of the key that seals them. */
export const PURPOSE = "settings";

export const SEALED: SealedPlace = {
  about: "secrets among stored settings",
  table: "settings",
  id: "name",
  column: "value",
  flag: "sealed",
  purpose: PURPOSE,
  name: nameOf,
};

export interface SettingRow {
  readonly name: string;
  readonly value: string;
  readonly sealed: number;
}

export const READ = "SELECT name, value, sealed FROM settings ORDER BY name";

export interface Decoded {
  readonly stored: StoredValues;
  /** Why a value cannot be read. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** `key` is asked for only where something is sealed. */
export async function decode(
  rows: readonly SettingRow[],
  names: ReadonlyMap<string, Setting>,
  key: () => Promise<SealingKey>,
): Promise<Decoded> {
  const stored = new Map<string, StoredValue>();
  const unreadable = new Map<string, string>();
  for (const { name, value, sealed } of rows) {
    const setting = names.get(name);
    if (setting === undefined) continue;
    if (!setting.secret && sealed === 0) stored.set(name, { text: value });
    // Only we seal, and we seal every secret: somebody else wrote it.
    else if (!setting.secret || sealed === 0) unreadable.set(name, "it was not stored by Postern");
    else
      try {
        stored.set(name, JSON.parse(unseal(await key(), nameOf(name), value)) as StoredValue);
      } catch (error) {
        unreadable.set(name, reason(error));
      }
  }
  return { stored, unreadable };
}

export async function writeRow(
  queries: Queries,
  name: string,
  { text, urls }: StoredValue,
  key: SealingKey | undefined,
): Promise<void> {
  const value =
    key === undefined ? text : seal(key, nameOf(name), JSON.stringify({ text, urls: urls ?? [] }));
  await queries.run(
    `INSERT INTO settings (name, value, sealed, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value, sealed = excluded.sealed, updated_at = excluded.updated_at`,
    name,
    value,
    key === undefined ? 0 : 1,
    new Date().toISOString(),
  );
}

function nameOf(setting: string): string {
  return `setting ${setting}`;
}
