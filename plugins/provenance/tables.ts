/** The table of trusted destinations and of rules. */
import { defineTables } from "../../kernel/kit/store.ts";

export const MIGRATIONS = defineTables(
  ({ text, integer, keyed }) => `
  -- Where calls may go although somebody else named it. An empty user or tool stands for all of them. With a rule, which is JSON, the
  -- value says in words what one parameter may be, for as long as the tool has this fingerprint; what it allowed on a day is counted.
  CREATE TABLE destinations (
    "user" ${text} NOT NULL, tool ${text} NOT NULL, value ${text} NOT NULL, added_at ${text} NOT NULL,
    rule ${text}, fingerprint ${text}, day ${text}, uses ${integer} NOT NULL DEFAULT 0, spent ${integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("user", tool, value)
  ) ${keyed};`,
);
