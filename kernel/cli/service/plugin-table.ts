/** The table of plugins that the start and `postern status` show. */

import type { PluginState } from "../../plugin.ts";
import { table } from "../../terminal/table.ts";

export function pluginTable(states: readonly PluginState[]): string {
  const rows = states.map(({ name, on, detail }) => [name, on ? "on" : "off", detail]);
  return table(["PLUGIN", "STATE", "DETAIL"], rows, { indent: "  " });
}
