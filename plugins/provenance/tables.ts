/** The table of trusted destinations. */
import { defineTables } from "../../kernel/kit/store.ts";

export const MIGRATIONS = defineTables(
  ({ text, keyed }) => `
  -- Where calls may go although somebody else named it. An empty user or tool stands for all of them.
  CREATE TABLE destinations (
    "user" ${text} NOT NULL, tool ${text} NOT NULL, value ${text} NOT NULL, added_at ${text} NOT NULL,
    PRIMARY KEY ("user", tool, value)
  ) ${keyed};`,
);
