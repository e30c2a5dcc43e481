/** What `postern doctor` hands to a plugin, for a home with a SQLite store or none. */
import type { DiagnoseContext } from "../../../kernel/plugin.ts";
import { Settings } from "../../../kernel/settings/env.ts";
import { look } from "../../../plugins/store/reading/look.ts";

export async function diagnosing<Config, Result>(
  home: string,
  config: Config,
  diagnose: (context: DiagnoseContext<Config>) => Promise<Result>,
): Promise<Result> {
  const stored = await look(new Settings({}).for("store"), home);
  try {
    return await diagnose({ config, home, stored, tables: async () => [] });
  } finally {
    await stored.close();
  }
}
