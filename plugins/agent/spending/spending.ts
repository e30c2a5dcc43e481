/** What each user has spent today, and the cap on it. */
import { Fault, type Sql, type Transaction, type Usage } from "../../../kernel/plugin.ts";

export interface Spending {
  /** Rejects where the user's money for today is used up. */
  assertLeft(user: string): Promise<void>;
  add(tx: Transaction, user: string, usage: Usage): void;
}

export function createSpending(sql: Sql, capUsd: number | undefined): Spending {
  const today = (): string => new Date().toISOString().slice(0, 10);
  return {
    async assertLeft(user) {
      if (capUsd === undefined) return;
      const query = 'SELECT usd FROM spending WHERE "user" = ? AND day = ?';
      const spent = (await sql.get<{ usd: number }>(query, user, today()))?.usd ?? 0;
      if (spent < capUsd) return;
      throw new Fault(
        "turn",
        "daily_cap",
        `You have used $${spent.toFixed(2)} today and the cap is $${capUsd.toFixed(2)} per day. It resets at midnight UTC; the operator sets it with DAILY_USD_CAP.`,
      );
    },
    add(tx, user, usage) {
      const usd = Number(usage.totalCost);
      if (usd === 0) return;
      void tx.run(
        `INSERT INTO spending ("user", day, usd) VALUES (?, ?, ?)
         ON CONFLICT ("user", day) DO UPDATE SET usd = spending.usd + excluded.usd`,
        user,
        today(),
        usd,
      );
    },
  };
}
