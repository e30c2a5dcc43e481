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

/** Answers its URL. It is dropped when it is no longer needed. */
export async function freshDatabase(later: Later): Promise<string> {
  const answer = JSON.parse(await text(connect(inject("postgresPort"), "127.0.0.1"))) as {
    readonly url?: string;
    readonly error?: string;
  };
  if (answer.url === undefined) throw new Error(answer.error);
  const server = answer.url;
  const name = `test_${randomBytes(6).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  // PostgreSQL waits a while for connections that are closing; one that was forgotten is ended.
  const drop = `DROP DATABASE IF EXISTS ${name}`;
  later(() => execute(server, drop).catch(() => execute(server, `${drop} WITH (FORCE)`)));
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
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
