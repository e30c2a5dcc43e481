/** The tool host's tables, by owner. */
import type { OwnedTables } from "../../kernel/plugin.ts";
import { TABLES as MCP, OWNER as MCP_OWNER } from "../mcp/tools/rows.ts";
import { MIGRATIONS as RECEIPTS } from "../receipts.ts";
import { TABLES as DEATHS } from "../switches.ts";
import { pullTools, pushTools } from "./carrying.ts";
import { TABLES as CATALOG } from "./tables.ts";

export const TABLES: readonly OwnedTables[] = [
  { owner: "tools", migrations: RECEIPTS },
  { owner: "tool-deaths", migrations: DEATHS },
  { owner: MCP_OWNER, migrations: MCP },
  {
    owner: "catalog",
    migrations: CATALOG,
    files: { tables: ["tools", "shipped_tools"], push: pushTools, pull: pullTools },
  },
];
