/** The tool host's tables, by owner. */
import type { OwnedTables } from "../../kernel/plugin.ts";
import { MIGRATIONS as RECEIPTS } from "../calls/receipts.ts";
import { TABLES as DEATHS } from "../calls/switches.ts";
import { TABLES as MCP, OWNER as MCP_OWNER } from "../mcp/tools/rows.ts";
import { TABLES as TRUST, OWNER as TRUST_OWNER } from "../trust/rules.ts";
import { pullTools, pushTools } from "./storage/carrying.ts";
import { TABLES as CATALOG } from "./storage/tables.ts";

export const TABLES: readonly OwnedTables[] = [
  { owner: "tools", migrations: RECEIPTS },
  { owner: "tool-deaths", migrations: DEATHS },
  { owner: MCP_OWNER, migrations: MCP },
  { owner: TRUST_OWNER, migrations: TRUST },
  {
    owner: "catalog",
    migrations: CATALOG,
    files: { tables: ["tools", "shipped_tools", "previous_tools"], push: pushTools, pull: pullTools },
  },
];
