/** What each user, and each token with a cap of its own, has spent today. */
import { Fault, type Sql } from "../../../kernel/plugin.ts";
import type { Models } from "../services.ts";

const OF_USER = 'SELECT usd FROM spending WHERE "user" = ? AND day = ?';
const OF_TOKEN = "SELECT usd FROM token_spending WHERE token = ? AND day = ?";

export function createSpending(sql: Sql): Pick<Models, "assertLeft" | "spend"> {
  const today = (): string => new Date().toISOString().slice(0, 10);

  async function assertUnder(cap: number | undefined, query: string, key: string, words: CapWords) {
    if (cap === undefined) return;
    const spent = (await sql.get<{ usd: number }>(query, key, today()))?.usd ?? 0;
    if (spent < cap) return;
    throw new Fault(
      "turn",
      "daily_cap",
      `${words.who} used $${spent.toFixed(2)} today and the cap is $${cap.toFixed(2)} per day. It resets at midnight UTC; ${words.setBy}.`,
    );
  }

  return {
    async assertLeft(user, capUsd, scopes) {
      await Promise.all([
        assertUnder(capUsd, OF_USER, user, USER_WORDS),
        ...scopes.map(({ token, perDayUsd }) => assertUnder(perDayUsd, OF_TOKEN, token, TOKEN_WORDS)),
      ]);
    },
    spend(tx, user, usage, scopes) {
      const usd = Number(usage.totalCost);
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

interface CapWords {
  readonly who: string;
  readonly setBy: string;
}

const USER_WORDS: CapWords = { who: "You have", setBy: "the operator sets it with DAILY_USD_CAP" };
const TOKEN_WORDS: CapWords = {
  who: "This token has",
  setBy: "the operator sets it when the token is created (--per-day-usd)",
};
