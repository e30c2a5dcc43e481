/** The operator's token, in a file of the home that only its owner can read. Nodes on one PostgreSQL share it. */
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seal, unseal } from "../../../kernel/kit/secrets.ts";
import type { SealedPlace } from "../../../kernel/kit/store.ts";
import { Fault, type Finding, type Fix, reason } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import { digestOf, newSecret } from "../records/secret.ts";
import { MIGRATIONS } from "../records/tables.ts";
import { type AccountsConfig, isSendable, SENDABLE } from "../settings.ts";

export interface OperatorToken {
  /** Stays the same over a restart only if the token does, and so do the sessions made from it. */
  readonly source: string;
  readonly token: string;
}

const OPERATOR_TOKEN_FILE = "webui-token";
const SHARED_NAME = "operator_token";
const PURPOSE = "gateway operator token";

export const SEALED_TOKEN: SealedPlace = {
  about: "operator's tokens",
  table: "gateway_fleet",
  id: "name",
  column: "sealed",
  purpose: PURPOSE,
  name: (id) => id,
};

export async function provisionOperatorToken(home: string, store: Store): Promise<string> {
  const file = join(home, OPERATOR_TOKEN_FILE);
  const sql = await store.tables("gateway", MIGRATIONS);
  if (sql.engine === "sqlite") return readOrWrite(file);
  const key = await store.keysFor(PURPOSE);
  const find = async (): Promise<string | undefined> => {
    const query = "SELECT sealed FROM gateway_fleet WHERE name = ?";
    const row = await sql.get<{ readonly sealed: string }>(query, SHARED_NAME);
    return row && unseal(key, SHARED_NAME, row.sealed);
  };
  const share = async (token: string): Promise<string> => {
    await sql.run(
      "INSERT INTO gateway_fleet (name, sealed) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
      SHARED_NAME,
      seal(key, SHARED_NAME, token),
    );
    return (await find()) ?? token;
  };
  // The first node may have had a token before it moved to this database; from then on all nodes use that one.
  const token = (await find()) ?? (await share(existsSync(file) ? read(file) : newSecret("")));
  if (!existsSync(file) || readFileSync(file, "utf8").trim() !== token) replace(file, token);
  return token;
}

/** Lets the other nodes accept the tokens that this one printed or was given, as long as it is running. */
export async function shareOperatorTokens(store: Store, tokens: readonly OperatorToken[]): Promise<void> {
  const sql = await store.tables("gateway", MIGRATIONS);
  if (sql.engine === "sqlite") return;
  const { id, living } = store.node;
  await sql.transaction(async (tx) => {
    await Promise.all([
      tx.run(`DELETE FROM gateway_operator_tokens WHERE node NOT IN ${living}`),
      ...tokens.map(({ source, token }) =>
        tx.run(
          "INSERT INTO gateway_operator_tokens (hash, node, source) VALUES (?, ?, ?) ON CONFLICT (hash, node) DO NOTHING",
          digestOf(token),
          id,
          source,
        ),
      ),
    ]);
  });
}

function readOrWrite(file: string): string {
  const fresh = writeBeside(file, newSecret(""));
  // Linked into place: the file is whole from its first moment, and an existing one stays.
  try {
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return read(file);
}

function replace(file: string, token: string): void {
  renameSync(writeBeside(file, token), file);
}

/** Writes a new file beside it that only its owner can read, and returns its path. */
function writeBeside(file: string, token: string): string {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${token}\n`, { mode: 0o600, flush: true });
  return fresh;
}

function read(file: string): string {
  const token = readFileSync(file, "utf8").trim();
  // The operator may have written a token of any length there, but an empty one would let everybody in.
  if (!isSendable(token)) {
    const message = `${file} does not contain a token, which is ${SENDABLE}: delete it, and the next start creates a new one`;
    throw new Fault("config", "operator_token_unusable", message, { param: file });
  }
  return token;
}

/** The token that a program of the same user signs in with at the service on this home; undefined where none can be read. */
export function findOperatorToken(
  { authToken, operatorToken }: Pick<AccountsConfig, "authToken" | "operatorToken">,
  home: string,
): string | undefined {
  const file = join(home, OPERATOR_TOKEN_FILE);
  return operatorToken ?? (existsSync(file) ? read(file) : authToken);
}

/** Reports a file that a start would refuse. The fix renames it and does not delete it, since a person may have written it. */
export function examineTokenFile(home: string): readonly Finding[] {
  const file = join(home, OPERATOR_TOKEN_FILE);
  if (!existsSync(file)) return [];
  try {
    read(file);
    return [];
  } catch (error) {
    const fix: Fix = {
      about: `put ${file} aside; the next start creates a new token`,
      asks: "browsers that were signed in with the old token are signed out",
      apply: () => renameSync(file, `${file}.unusable-${Date.now()}`),
    };
    return [{ name: "operator token", ok: false, detail: reason(error), fix }];
  }
}

/** Reads the tokens that a person may have chosen, by the name of their setting or file. */
export function chosenTokens(
  { authToken, operatorToken }: Pick<AccountsConfig, "authToken" | "operatorToken">,
  home: string,
): Readonly<Record<string, string | undefined>> {
  const file = join(home, OPERATOR_TOKEN_FILE);
  return {
    GATEWAY_AUTH_TOKEN: authToken,
    SERVICE_REBORN_WEBUI_TOKEN: operatorToken,
    ...(operatorToken === undefined && existsSync(file) && { [file]: readFileSync(file, "utf8").trim() }),
  };
}
