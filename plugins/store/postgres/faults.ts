/** PostgreSQL's errors, those of the way to it, and what an operator can do about them. */
import { Fault, reason } from "../../../kernel/plugin.ts";
import type { PostgresSettings } from "../config/postgres-url.ts";

type WayOut = (place: PostgresSettings) => readonly [code: string, message: string];

const unavailable: WayOut = ({ host }) => [
  "store_unavailable",
  `the database at ${host} does not answer: check that PostgreSQL is running there and can be reached from here. Postern connects again by itself`,
];

const refused: WayOut = ({ host, user }) => [
  "store_unauthorized",
  `PostgreSQL at ${host} refused the user ${user}: check the user and password in STORE_URL, and pg_hba.conf on the server`,
];

const damaged: WayOut = ({ host, database }) => [
  "store_corrupt",
  `the database ${database} at ${host} is damaged: restore it from a backup`,
];

const uncertified: WayOut = ({ host }) => [
  "store_tls",
  `the certificate of PostgreSQL at ${host} was not accepted: give its authority as sslrootcert=<file> in STORE_URL, or choose another sslmode`,
];

/** By SQLSTATE, or its first two characters. */
const WAYS_OUT: Readonly<Record<string, WayOut>> = {
  "08": unavailable,
  "57P01": unavailable,
  "57P02": unavailable,
  "57P03": unavailable,
  "57P05": unavailable,
  "25P03": unavailable,
  "28": refused,
  "3D000": ({ host, database }) => [
    "store_missing",
    `there is no database ${database} at ${host}: create it (createdb ${database}), or name another in STORE_URL`,
  ],
  "25006": ({ host, database }) => [
    "store_read_only",
    `the database ${database} at ${host} is read-only: STORE_URL must name the primary server, not a standby`,
  ],
  "42501": ({ host, database, user }) => [
    "store_forbidden",
    `the user ${user} lacks a permission in the database ${database} at ${host}: make it the database's owner, or grant it CREATE on the schema`,
  ],
  "53100": ({ host }) => [
    "store_full",
    `the disk of PostgreSQL at ${host} is full. Free some space; what was acknowledged before is safe`,
  ],
  "53200": ({ host }) => [
    "store_busy",
    `PostgreSQL at ${host} is out of memory: give it more, or lower its work_mem or max_connections`,
  ],
  "53300": ({ host, poolSize }) => [
    "store_busy",
    `PostgreSQL at ${host} has no connection left: raise its max_connections, or lower STORE_POOL_SIZE (now ${poolSize} for each node)`,
  ],
  "57014": ({ host, statementSecs }) => [
    "store_slow",
    `a statement took longer than ${statementSecs} s on PostgreSQL at ${host}: see what keeps it busy (pg_stat_activity), or raise STORE_STATEMENT_SECS`,
  ],
  XX001: damaged,
  XX002: damaged,
};

const NO_TLS = /does not support SSL/;

/** Errors of pg that have no code. */
const WORDS: readonly (readonly [RegExp, WayOut])[] = [
  [
    /timeout exceeded when trying to connect/,
    ({ poolSize, host }) => [
      "store_busy",
      `all ${poolSize} connections to PostgreSQL at ${host} are in use: raise STORE_POOL_SIZE, or see what keeps them busy`,
    ],
  ],
  [
    NO_TLS,
    ({ host }) => [
      "store_tls",
      `PostgreSQL at ${host} offers no TLS: turn it on there, or set sslmode=disable in STORE_URL where the network is your own`,
    ],
  ],
  [/^SASL/, refused],
  [/Connection terminated|timeout expired|not queryable|Query read timeout|SSL connection/, unavailable],
];

const NETWORK = /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|AI_|HOST|NET|ADDR|NOENT|ACCES)/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/;

interface Coded {
  readonly code?: unknown;
  readonly errors?: readonly unknown[];
}

function findWayOut(error: unknown): WayOut | undefined {
  const { code, errors } = error as Coded;
  if (typeof code === "string") {
    const known = WAYS_OUT[code] ?? (code.length === 5 ? WAYS_OUT[code.slice(0, 2)] : undefined);
    if (known !== undefined) return known;
    if (NETWORK.test(code)) return unavailable;
    if (CERTIFICATE.test(code)) return uncertified;
  }
  // Both addresses of a name were tried.
  if (errors?.[0] !== undefined) return findWayOut(errors[0]);
  return WORDS.find(([words]) => words.test(reason(error)))?.[1];
}

export function explain(error: unknown, place: PostgresSettings): unknown {
  if (error instanceof Fault) return error;
  const wayOut = findWayOut(error);
  if (wayOut === undefined) return error;
  const [code, message] = wayOut(place);
  return new Fault("unavailable", code, `${message} (${reason(error)})`, {
    cause: error,
    param: "STORE_URL",
    callersMessage: "The database is not available now. Try again later; the server log has the details.",
  });
}

/** A full disk, no memory, or a server that takes no writes: what is read may be well while nothing can be stored. */
export function mayRefuseWrites(error: unknown): boolean {
  const { code } = ((error instanceof Fault ? error.cause : error) ?? {}) as Coded;
  return typeof code === "string" && ["25006", "53100", "53200"].includes(code);
}

/** After it nothing more comes over that connection. */
export function isLost(error: unknown): boolean {
  return findWayOut(error) === unavailable;
}

export const offersNoTls = (error: unknown): boolean => NO_TLS.test(reason(error));

/** Two transactions were in each other's way, and this one was chosen to be done again. */
export function isConflict(error: unknown): boolean {
  return ["40001", "40P01"].includes(String((error as Coded).code));
}

/** A statement was prepared before a table was changed. */
export function isStale(error: unknown): boolean {
  return (error as Coded).code === "0A000" && /cached plan/.test(reason(error));
}
