/** The tool host's tables, by owner. */
import type { OwnedTables } from "../kernel/kit/store.ts";
import { OLD_RECEIPTS, MIGRATIONS as RECEIPTS } from "./calls/receipts.ts";
import { giveState, KEEPS, PERSONAL, TABLES as STATE, OWNER as STATE_OWNER } from "./calls/state.ts";
import { TABLES as DEATHS } from "./calls/switches.ts";
import { pullTools, pushTools } from "./catalog/storage/copy.ts";
import { TABLES as CATALOG } from "./catalog/storage/tables.ts";
import { TABLES as MCP, OWNER as MCP_OWNER } from "./mcp/tools/rows.ts";
import { TABLES as TRUST, OWNER as TRUST_OWNER } from "./trust/rules.ts";

const SEALED = [
  { about: "secrets of tools and MCP servers", namespace: "secrets" },
  { about: "sign-ins under way", namespace: "sign-ins" },
  { about: "sign-ins to MCP servers under way", namespace: "mcp-sign-ins" },
  { about: "OAuth clients of MCP servers", namespace: "mcp-clients" },
  { about: "variables of MCP servers' commands", namespace: "mcp-env" },
  { about: "sign-ins to registries", namespace: "registry-logins" },
].map((place) => ({ ...place, purpose: "secrets" }));

export const TABLES: readonly OwnedTables[] = [
  { owner: "tools", migrations: RECEIPTS, sealed: SEALED, ages: [OLD_RECEIPTS] },
  { owner: "tool-deaths", migrations: DEATHS },
  { owner: STATE_OWNER, migrations: STATE, personal: PERSONAL, give: giveState, keeps: KEEPS },
  { owner: MCP_OWNER, migrations: MCP },
  { owner: TRUST_OWNER, migrations: TRUST },
  {
    owner: "catalog",
    migrations: CATALOG,
    files: { tables: ["tools", "shipped_tools", "previous_tools"], push: pushTools, pull: pullTools },
  },
];
