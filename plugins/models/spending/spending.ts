/** What each user, and each token with a cap of its own, has spent today. */
import { Fault, type Sql, type TokenScope, type Transaction, type Usage } from "../../../kernel/plugin.ts";

export interface Spending {
  /** Rejects where the money of the user, or of a token behind the turn, is used up for today. */
  assertLeft(user: string, capUsd: number | undefined, scopes: readonly TokenScope[]): Promise<void>;
  add(tx: Transaction, user: string, usage: Usage, scopes: readonly TokenScope[]): void;
}

const OF_USER = 'SELECT usd FROM spending WHERE "user" = ? AND day = ?';
const OF_TOKEN = "SELECT usd FROM token_spending WHERE token = ? AND day = ?";

export function createSpending(sql: Sql): Spending {
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
    add(tx, user, usage, scopes) {
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

/** Looked at before each request, so that the last one may pass it. */
export function assertWithin(budgetUsd: number | undefined, usage: Usage): void {
  const spent = Number(usage.totalCost);
  if (budgetUsd === undefined || spent < budgetUsd) return;
  throw new Fault(
    "turn",
    "budget_spent",
    `This run has used $${spent.toFixed(2)}, and its budget is $${budgetUsd.toFixed(2)}, so it was stopped.`,
  );
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
