/** What each user has spent today, and the cap on it. */
import { Fault, type SyncSql, type Usage } from "../../../kernel/plugin.ts";

export interface Spending {
  /** Throws where the user's money for today is used up. */
  assertLeft(user: string): void;
  add(user: string, usage: Usage): void;
}

export function createSpending(sql: SyncSql, capUsd: number | undefined): Spending {
  const today = (): string => new Date().toISOString().slice(0, 10);
  return {
    assertLeft(user) {
      if (capUsd === undefined) return;
      const spent =
        sql.get<{ usd: number }>("SELECT usd FROM spending WHERE user = ? AND day = ?", user, today())?.usd ??
        0;
      if (spent < capUsd) return;
      throw new Fault(
        "turn",
        "daily_cap",
        `You have used $${spent.toFixed(2)} today and the cap is $${capUsd.toFixed(2)} per day. It resets at midnight UTC; the operator sets it with DAILY_USD_CAP.`,
      );
    },
    add(user, usage) {
      const usd = Number(usage.totalCost);
      if (usd === 0) return;
      sql.run(
        `INSERT INTO spending (user, day, usd) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET usd = usd + excluded.usd`,
        user,
        today(),
        usd,
      );
    },
  };
}
