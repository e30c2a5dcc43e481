/** Reads stored settings for commands that start nothing: no table is made, no node joins, the service may run. */
import { changeable, type LiveReader, type Settings } from "../../../kernel/kit/settings.ts";
import { readStoreSettings } from "../config/settings.ts";
import { loadKeys } from "../keys/secrets-key.ts";
import { look } from "../reading/look.ts";
import { layer } from "./layers.ts";
import { decode, PURPOSE, READ, type SettingRow } from "./rows.ts";

export async function peekSettings(
  given: Settings,
  home: string,
  readers: readonly LiveReader[],
): Promise<{ readonly settings: Settings; readonly ignored: ReadonlyMap<string, string> }> {
  const bare = given.over(new Map());
  const { secretsKey } = readStoreSettings(bare.for("store"));
  // Whoever reads the store's settings says what keeps it from being found.
  const rows = bare.problems.length > 0 ? [] : await readRows(bare, home);
  const key = async () => (await loadKeys(home, secretsKey)).derive(PURPOSE);
  const { stored, ignored } = layer(given, readers, await decode(rows, changeable(given, readers), key));
  return { settings: given.over(stored), ignored };
}

async function readRows(bare: Settings, home: string): Promise<readonly SettingRow[]> {
  const { rows, close } = await look(bare.for("store"), home);
  try {
    return await rows<SettingRow>(READ);
  } finally {
    await close();
  }
}
