/** Answers that have been used: one counts once, on whichever node it arrives. */
import { defineTables } from "../../../kernel/kit.ts";
import type { Store } from "../../../kernel/plugin.ts";

export const OWNER = "mcp answers";

export const MIGRATIONS = defineTables(
  ({ text }) => `CREATE TABLE mcp_spent (id ${text} PRIMARY KEY, expires_at ${text} NOT NULL)`,
);

/** True for the first who spends it. */
export type Spend = (id: string, lastsSecs: number) => Promise<boolean>;

export async function createSpending(store: Store): Promise<Spend> {
  const sql = await store.tables(OWNER, MIGRATIONS);
  return async (id, lastsSecs) => {
    const now = Date.now();
    await sql.run("DELETE FROM mcp_spent WHERE expires_at < ?", new Date(now).toISOString());
    const expiresAt = new Date(now + lastsSecs * 1000).toISOString();
    const added = await sql.run(
      "INSERT INTO mcp_spent (id, expires_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
      id,
      expiresAt,
    );
    return added === 1;
  };
}
