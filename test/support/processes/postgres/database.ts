/** A PostgreSQL database for a test: a new one on the server that all files of the run share. */
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";
import { inject } from "vitest";
import { describeWhere } from "../../run/needs.ts";
import type {} from "../../run/postgres.ts";
import type { Later } from "../../undo.ts";
import { findBinaries, PACKAGE } from "./server.ts";

/** Stands in for `describe`. */
export const describePostgres = describeWhere(
  findBinaries() !== undefined,
  `PostgreSQL for this platform (${PACKAGE}; npm installs it where it exists)`,
);

/** How long the service waits for a connection or a statement: a machine that is busy with tests is no database that is away. */
const PATIENCE = "connect_timeout=60&statement_secs=600";

/** Answers its URL. It is dropped when it is no longer needed. */
export async function freshDatabase(later: Later): Promise<string> {
  const { server, name, url } = await createDatabase();
  // PostgreSQL waits a while for connections that are closing; one that was forgotten is ended.
  const drop = `DROP DATABASE IF EXISTS ${name}`;
  later(() => execute(server, drop).catch(() => execute(server, `${drop} WITH (FORCE)`)));
  return url;
}

const emptied: string[] = [];

/** One without rows, whose tables may be those of an earlier test: a kernel then starts five times as fast. */
export async function emptyDatabase(later: Later): Promise<string> {
  const url = emptied.pop() ?? (await createDatabase()).url;
  later(async () => {
    await execute(url, EMPTY);
    emptied.push(url);
  });
  return url;
}

/** What migrations put in stays: their own table, and the operator. */
const EMPTY = `DO $$
DECLARE name TEXT;
BEGIN
  PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid();
  -- All rows go, so that none may hold another back.
  PERFORM set_config('session_replication_role', 'replica', true);
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations' LOOP
    IF name = 'gateway_users' THEN DELETE FROM gateway_users WHERE id <> 'operator';
    ELSE EXECUTE format('DELETE FROM %I', name);
    END IF;
  END LOOP;
END $$`;

async function createDatabase() {
  const answer = JSON.parse(await text(connect(inject("postgresPort"), "127.0.0.1"))) as {
    readonly url?: string;
    readonly error?: string;
  };
  if (answer.url === undefined) throw new Error(answer.error);
  const server = answer.url;
  const name = `test_${randomBytes(6).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  return {
    server,
    name,
    url: Object.assign(new URL(server), { pathname: `/${name}`, search: PATIENCE }).href,
  };
}

/** Runs a statement on a connection of its own. */
export async function execute<Row>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}
