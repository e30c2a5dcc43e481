/** Counts today's spending of each user, and of each token with a cap of its own. */

import { defineTables } from "../../../kernel/kit/store.ts";
import { countedUsd } from "../../../kernel/kit/turns.ts";
import { dollars } from "../../../kernel/kit/words.ts";
import { Fault, type Sql } from "../../../kernel/plugin.ts";
import type { Models, OpenPurse } from "../services.ts";

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

interface Cap {
  readonly spent: string;
  readonly who: string;
  readonly setBy: string;
}

const USER_CAP: Cap = {
  spent: 'SELECT usd FROM spending WHERE "user" = ? AND day = ?',
  who: "You have",
  setBy: "the operator sets it with DAILY_USD_CAP",
};
const TOKEN_CAP: Cap = {
  spent: "SELECT usd FROM token_spending WHERE token = ? AND day = ?",
  who: "This token has",
  setBy: "the operator sets it when the token is created (--per-day-usd)",
};

export function createSpending(sql: Sql): Pick<Models, "assertLeft" | "spend" | "addPurse" | "openPurses"> {
  const purses = new Set<OpenPurse>();
  const today = (): string => new Date().toISOString().slice(0, 10);

  async function assertUnder(cap: number | undefined, key: string, { spent: query, who, setBy }: Cap) {
    if (cap === undefined) return;
    const spent = (await sql.get<{ usd: number }>(query, key, today()))?.usd ?? 0;
    if (spent < cap) return;
    const message = `${who} used ${dollars(spent)} today and the cap is ${dollars(cap)} per day. It resets at midnight UTC; ${setBy}.`;
    throw new Fault("turn", "daily_cap", message);
  }

  return {
    addPurse(open) {
      purses.add(open);
      return () => void purses.delete(open);
    },
    openPurses: (turn) => Promise.all([...purses].map((open) => open(turn))),
    async assertLeft(user, capUsd, scopes) {
      await Promise.all([
        assertUnder(capUsd, user, USER_CAP),
        ...scopes.map(({ token, perDayUsd }) => assertUnder(perDayUsd, token, TOKEN_CAP)),
      ]);
    },
    spend(tx, user, usage, scopes) {
      const usd = countedUsd(usage);
      if (usd === 0) return;
      void tx.run(
        `INSERT INTO spending ("user", day, usd) VALUES (?, ?, ?)
         ON CONFLICT ("user", day) DO UPDATE SET usd = spending.usd + excluded.usd`,
        user,
        today(),
        usd,
      );
      for (const { token, perDayUsd } of scopes)
        if (perDayUsd !== undefined)
          void tx.run(
            `INSERT INTO token_spending (token, day, "user", usd) VALUES (?, ?, ?, ?)
             ON CONFLICT (token, day) DO UPDATE SET usd = token_spending.usd + excluded.usd`,
            token,
            today(),
            user,
            usd,
          );
    },
  };
}
