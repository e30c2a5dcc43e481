/** The operator's token: provisioned once into a file of the home that only its owner can read. */
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../../kernel/plugin.ts";
import type { GatewayConfig } from "../settings.ts";
import { newSecret } from "./secret.ts";

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
