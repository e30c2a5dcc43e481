/** The tables of this plugin in the store. */
import type { OwnedTables } from "../../kernel/kit.ts";
import { OWNER as CONVERSATION_OWNER, MIGRATIONS as CONVERSATIONS } from "./stored/conversations.ts";
import { OWNER as FILE_OWNER, MIGRATIONS as FILES } from "./stored/files.ts";
import { MIGRATIONS as REQUESTS } from "./stored/tables.ts";

export const TABLES: readonly OwnedTables[] = [
  { owner: "responses", migrations: REQUESTS, personal: ["responses", "response_texts"] },
  { owner: FILE_OWNER, migrations: FILES, personal: ["response_files"] },
  { owner: CONVERSATION_OWNER, migrations: CONVERSATIONS, personal: ["response_conversations"] },
];
