/** Request states whose answer has been used: each counts once, on whichever node it arrives. */
import { defineTables } from "../../../kernel/kit/store.ts";
import type { Store } from "../../store/services.ts";

export const OWNER = "mcp answers";

export const MIGRATIONS = defineTables(
  ({ text }) => `CREATE TABLE mcp_spent (id ${text} PRIMARY KEY, expires_at ${text} NOT NULL)`,
);

/** Returns a function that resolves to true for the first caller with an id. */
export async function createUsedStates(store: Store) {
  const sql = await store.tables(OWNER, MIGRATIONS);
  return async (id: string, ttlSecs: number): Promise<boolean> => {
    const now = Date.now();
    await sql.run("DELETE FROM mcp_spent WHERE expires_at < ?", new Date(now).toISOString());
    const expiresAt = new Date(now + ttlSecs * 1000).toISOString();
    const added = await sql.run(
      "INSERT INTO mcp_spent (id, expires_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
      ...[id, expiresAt],
    );
    return added === 1;
  };
}
