/** Connections to PostgreSQL. What is sent in one moment over one of them travels together. */
import type { ConnectionOptions } from "node:tls";
import pg from "pg";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import { type PostgresSettings, readTls } from "../config/postgres-url.ts";
import { explain, isLost, offersNoTls } from "./faults.ts";
import type { Statement } from "./statements.ts";

export interface StatementResult {
  readonly rows: unknown[];
  readonly count: number;
  readonly command: string;
}

/** One connection while it is ours alone. */
export interface Lease {
  send(statement: Statement, values?: readonly SqlValue[], timeoutMs?: number): Promise<StatementResult>;
  readonly lost: Promise<never>;
  discard(): void;
  /** For others to use, unless it is broken. */
  release(): void;
}

// Longer than the server's own limit, for where no answer comes at all.
const GRACE_MS = 5000;
// A connection whose other end is gone without a word is noticed by then.
const IDLE_PROBE_MS = 10_000;
const IDLE_MS = 60_000;
// A node that was stopped in the middle of a transaction may not hold its locks for ever.
const ABANDONED_MS = 30_000;

const BOOL = 16;
const BYTEA = 17;
const INT8 = 20;
const NUMERIC = 1700;

const parseBytes = pg.types.getTypeParser(BYTEA) as (text: string) => Buffer;

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  // SQLite returns 1 or 0 for a comparison.
  [BOOL]: (text) => (text === "t" ? 1 : 0),
  [BYTEA]: (text) => {
    const { buffer, byteOffset, byteLength } = parseBytes(text);
    return new Uint8Array(buffer, byteOffset, byteLength);
  },
  [INT8]: Number,
  [NUMERIC]: Number,
};

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Pg gives up by itself where a password is missing, and leaves the connection open. */
export class Client extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.connection.on("error", () => this.connection.stream.destroy());
  }
}

export async function openPool(settings: PostgresSettings) {
  const { client, poolSize, statementSecs, connectMillis } = settings;
  const config: pg.PoolConfig = {
    ...client,
    Client,
    ssl: await chooseTls(settings),
    types,
    pipeline: true,
    max: poolSize,
    application_name: client.application_name ?? "postern",
    connectionTimeoutMillis: connectMillis,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: IDLE_PROBE_MS,
    statement_timeout: statementSecs * 1000,
    query_timeout: statementSecs * 1000 + GRACE_MS,
    idle_in_transaction_session_timeout: ABANDONED_MS,
  };
  const pool = new pg.Pool(config);
  // The statements of a connection that breaks fail by themselves; one that nobody uses is replaced when it is needed.
  pool.on("error", () => {});
  let roundTrips = 0;

  async function lease(): Promise<Lease> {
    const connection = await pool.connect();
    let isBroken = false;
    let isCorked = false;
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => {});
    const lose = (error: unknown): void => {
      isBroken = true;
      reject(error);
    };
    connection.on("error", lose);

    /** Until everything that runs now has run: one packet for all that it sends. */
    function cork(): void {
      if (isCorked) return;
      isCorked = true;
      roundTrips++;
      const { stream } = connection.connection;
      stream.cork();
      process.nextTick(() => {
        isCorked = false;
        stream.uncork();
      });
    }

    return {
      lost,
      async send({ text, name }, values, timeoutMs) {
        cork();
        const query = { text, name, values: values?.map(sendable), query_timeout: timeoutMs };
        try {
          // Several statements in one text have several results; nobody uses them.
          const answered = (await connection.query(query)) as pg.QueryResult | pg.QueryResult[];
          const result = Array.isArray(answered) ? answered.at(-1) : answered;
          return { rows: result?.rows ?? [], count: result?.rowCount ?? 0, command: result?.command ?? "" };
        } catch (error) {
          if (isLost(error)) lose(error);
          throw error;
        }
      },
      discard() {
        isBroken = true;
      },
      release() {
        connection.removeListener("error", lose);
        connection.release(isBroken);
      },
    };
  }

  return {
    config,
    lease,
    explain: (error: unknown) => explain(error, settings),
    roundTrips: () => roundTrips,
    close: () => pool.end(),
  };
}

/** `prefer` takes TLS where the server offers it. */
async function chooseTls(settings: PostgresSettings): Promise<ConnectionOptions | false> {
  const ssl = readTls(settings);
  if (settings.tls !== "prefer") return ssl;
  const { client, connectMillis } = settings;
  const asking = new Client({ ...client, ssl: ssl || {}, connectionTimeoutMillis: connectMillis });
  asking.on("error", () => {});
  try {
    await asking.connect();
    return ssl;
  } catch (error) {
    if (offersNoTls(error)) return false;
    throw explain(error, settings);
  } finally {
    await asking.end();
  }
}

/** PostgreSQL's texts cannot hold a NUL. */
function sendable(value: SqlValue): SqlValue {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}
