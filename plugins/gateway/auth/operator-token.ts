/** The operator's token: provisioned once into a file of the home that only its owner can read. */
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../../kernel/plugin.ts";
import { newSecret } from "./accounts.ts";

const OPERATOR_TOKEN_FILE = "webui-token";

export function provisionOperatorToken(home: string): string {
  const file = join(home, OPERATOR_TOKEN_FILE);
  const fresh = `${file}.${process.pid}`;
  // Written aside and linked into place: the file is whole from its first moment, and an existing one stays.
  writeFileSync(fresh, `${newSecret("")}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  const token = readFileSync(file, "utf8").trim();
  if (token.length < 16)
    throw new Fault(
      "config",
      "operator_token_short",
      `${file} does not contain a token of at least 16 characters: delete it, and the next start creates a new one`,
      { param: file },
    );
  return token;
}
