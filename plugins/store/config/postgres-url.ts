/** Reads a `postgres://` URL. The environment gives what the URL leaves out. */
import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type pg from "pg";
import { type Env, Fault, reason } from "../../../kernel/plugin.ts";

/** The modes of PostgreSQL's own tools. */
const TLS_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
type TlsMode = (typeof TLS_MODES)[number];

export interface PostgresDefaults {
  readonly poolSize: number;
  readonly statementSecs: number;
  /** `prefer` asks for none on the same machine. */
  readonly tls: TlsMode;
}

export interface PostgresSettings extends PostgresDefaults {
  readonly host: string;
  readonly database: string;
  readonly user: string;
  readonly connectMillis: number;
  readonly client: pg.ClientConfig;
  /** Names of files. */
  readonly certificates: Readonly<Record<"ca" | "cert" | "key", string | null>>;
}

const LIMITS = {
  poolSize: { min: 2, max: 500 },
  statementSecs: { min: 1, max: 3600 },
} as const;

const DEFAULT_PORT = 5432;
const CONNECT_SECS = 5;
const LOCAL = /^(localhost|127\.[\d.]+|::1|\/.*)$/;

/** Undefined where the URL names something else. */
export function readPostgresSettings(env: Env, url: string | undefined): PostgresSettings | undefined {
  const poolSize = env.integer(
    "STORE_POOL_SIZE",
    10,
    LIMITS.poolSize,
    "Connections of a node to PostgreSQL; in the URL: pool_size",
  );
  const statementSecs = env.integer(
    "STORE_STATEMENT_SECS",
    30,
    LIMITS.statementSecs,
    "How long PostgreSQL may take for a statement; in the URL: statement_secs",
  );
  const tls = env.oneOf(
    "STORE_TLS",
    TLS_MODES,
    "prefer",
    "TLS to PostgreSQL; in the URL: sslmode, with sslrootcert=<file>. Not used by default on the same machine",
  );
  if (url === undefined || !/^postgres(ql)?:\/\//i.test(url)) return undefined;
  const settings = readPostgresUrl(url, { poolSize, statementSecs, tls });
  if (typeof settings !== "string") return settings;
  env.refuse("STORE_URL", settings);
  return undefined;
}

/** A text says what is wrong with the URL, without repeating it. */
export function readPostgresUrl(url: string, defaults: PostgresDefaults): PostgresSettings | string {
  // A socket's folder is given as a parameter, and the host left out.
  const parsed = URL.parse(url.replace(/^(\w+:\/\/[^/?]*@)(?=\/)/, "$1localhost"));
  // An @ after the host, or a part after #, belongs to a password that holds a / or a #.
  if (parsed === null || parsed.pathname.includes("@") || parsed.hash !== "")
    return "a URL whose password has its special characters written as %XX";
  const given = parsed.searchParams;
  const [user, password, database] = [parsed.username, parsed.password, parsed.pathname.slice(1)].map(decode);
  if (!user || !database) return "postgres://<user>:<password>@<host>/<database>";
  const hostname = given.get("host") ?? decode(parsed.hostname).replace(/^\[(.*)\]$/, "$1");
  if (hostname === "") return "a URL that names a host";
  const port = Number(given.get("port") ?? (parsed.port || DEFAULT_PORT));
  const poolSize = integer(given.get("pool_size"), defaults.poolSize, LIMITS.poolSize);
  if (poolSize === undefined) return `pool_size from ${LIMITS.poolSize.min} to ${LIMITS.poolSize.max}`;
  const statementSecs = integer(given.get("statement_secs"), defaults.statementSecs, LIMITS.statementSecs);
  if (statementSecs === undefined)
    return `statement_secs from ${LIMITS.statementSecs.min} to ${LIMITS.statementSecs.max}`;
  const connectSecs = integer(given.get("connect_timeout"), CONNECT_SECS, { min: 1, max: 60 });
  if (connectSecs === undefined) return "connect_timeout from 1 to 60";
  const isLocal = LOCAL.test(hostname) && defaults.tls === "prefer";
  const mode = given.get("sslmode") ?? (isLocal ? "disable" : defaults.tls);
  const tls = TLS_MODES.find((known) => known === mode);
  if (tls === undefined) return `sslmode as one of ${TLS_MODES.join(", ")}`;
  return {
    host: hostname.startsWith("/") ? hostname : `${hostname}:${port}`,
    database,
    user,
    poolSize,
    statementSecs,
    connectMillis: connectSecs * 1000,
    tls,
    certificates: { ca: given.get("sslrootcert"), cert: given.get("sslcert"), key: given.get("sslkey") },
    client: {
      host: hostname,
      port,
      user,
      database,
      // A function, so that nothing that is printed holds it, and no other place is searched for one.
      password: async () => password ?? "",
      options: given.get("options") ?? undefined,
      application_name: given.get("application_name") ?? undefined,
    },
  };
}

export const nameOf = ({ database, host }: PostgresSettings): string => `PostgreSQL, ${database} at ${host}`;

/** Returns the options for TLS, in the modes that always use it. */
export function readTls({ tls, certificates }: PostgresSettings): ConnectionOptions | false {
  if (tls === "disable") return false;
  const files = Object.entries(certificates).flatMap(([name, file]) =>
    file === null ? [] : [[name, readCertificate(file)]],
  );
  // An authority that was named is asked, as PostgreSQL's own tools do.
  const isVerified = tls.startsWith("verify") || (tls === "require" && certificates.ca !== null);
  return {
    ...Object.fromEntries(files),
    rejectUnauthorized: isVerified,
    ...(isVerified && tls !== "verify-full" && { checkServerIdentity: () => undefined }),
  };
}

function readCertificate(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const message = `${file}, which STORE_URL names, cannot be read: ${reason(error)}`;
    throw new Fault("config", "store_certificate", message, { param: "STORE_URL" });
  }
}

function integer(
  text: string | null,
  fallback: number,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const value = text === null ? fallback : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
