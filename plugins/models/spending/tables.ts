/** The tables of what was spent: by user and by token, for each day. */
import { defineTables } from "../../../kernel/kit.ts";

export const MIGRATIONS = defineTables(
  ({ text, real, keyed }) => `
  CREATE TABLE spending (
    "user" ${text} NOT NULL, day ${text} NOT NULL, usd ${real} NOT NULL, PRIMARY KEY ("user", day)
  ) ${keyed};
  -- For tokens that have a cap of their own.
  CREATE TABLE token_spending (
    token ${text} NOT NULL, day ${text} NOT NULL, "user" ${text} NOT NULL, usd ${real} NOT NULL,
    PRIMARY KEY (token, day)
  ) ${keyed};`,
);
