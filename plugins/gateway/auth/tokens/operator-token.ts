/**
 * The operator's token: provisioned once, into a file of the home that only its owner can read. Nodes on one PostgreSQL
 * share it; each has it in its own home, too.
 */
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault, type Store } from "../../../../kernel/plugin.ts";
import { seal, unseal } from "../../../../kernel/store/sealing.ts";
import type { GatewayConfig } from "../../settings.ts";
import type { OperatorToken } from "../identity.ts";
import { MIGRATIONS } from "../tables.ts";
import { digestOf, newSecret } from "./secret.ts";

const OPERATOR_TOKEN_FILE = "webui-token";

const SHARED_NAME = "operator_token";

export async function provisionOperatorToken(home: string, store: Store): Promise<string> {
  const file = join(home, OPERATOR_TOKEN_FILE);
  const sql = await store.tables("gateway", MIGRATIONS);
  if (sql.engine === "sqlite") return readOrWrite(file);
  const key = await store.keyFor("gateway operator token");
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
  // The first node's own, which it may have had before it moved to this database, is from then on that of all.
  const token = (await find()) ?? (await share(existsSync(file) ? read(file) : newSecret("")));
  if (!existsSync(file) || readFileSync(file, "utf8").trim() !== token) replace(file, token);
  return token;
}

/** Lets the other nodes accept what this one printed or was given, as long as it lives. */
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
  const fresh = written(file, newSecret(""));
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
  renameSync(written(file, token), file);
}

/** Beside the file, for its owner alone. */
function written(file: string, token: string): string {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${token}\n`, { mode: 0o600, flush: true });
  return fresh;
}

function read(file: string): string {
  const token = readFileSync(file, "utf8").trim();
  // The operator may have written another one there, as short as they like; but an empty one would let everybody in.
  if (token === "" || /[^!-~]/.test(token))
    throw new Fault(
      "config",
      "operator_token_unusable",
      `${file} does not contain a token of printable ASCII characters: delete it, and the next start creates a new one`,
      { param: file },
    );
  return token;
}

/** The tokens a person may have chosen, by the name they are set under. Changes nothing. */
export function chosenTokens(
  { authToken, operatorToken }: Pick<GatewayConfig, "authToken" | "operatorToken">,
  home: string,
): Readonly<Record<string, string | undefined>> {
  const file = join(home, OPERATOR_TOKEN_FILE);
  return {
    GATEWAY_AUTH_TOKEN: authToken,
    SERVICE_REBORN_WEBUI_TOKEN: operatorToken,
    ...(operatorToken === undefined && existsSync(file) && { [file]: readFileSync(file, "utf8").trim() }),
  };
}
