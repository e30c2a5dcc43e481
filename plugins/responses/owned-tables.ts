/** What this plugin keeps in the store. */
import type { OwnedTables } from "../../kernel/plugin.ts";
import { OWNER as FILE_OWNER, MIGRATIONS as FILES } from "./files/stored-files.ts";
import { MIGRATIONS as REQUESTS } from "./intake/requests.ts";

export const TABLES: readonly OwnedTables[] = [
  { owner: "responses", migrations: REQUESTS, personal: ["responses"] },
  { owner: FILE_OWNER, migrations: FILES, personal: ["response_files"] },
];
