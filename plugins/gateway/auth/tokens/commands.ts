/** `postern token …`; it also works while the service is running. */
import { type Command, CommanderError, InvalidArgumentError } from "commander";
import { table } from "../../../../kernel/cli/table.ts";
import type { CommandContext } from "../../../../kernel/plugin.ts";
import { Fault } from "../../../../kernel/plugin.ts";
import { toWire } from "../../../../kernel/vocabulary/wire/convert.ts";
import { type JsonOption, print, verb, withAccounts } from "../commands.ts";
import { TokenInfo } from "./tokens.ts";

export function registerToken(group: Command, context: CommandContext): void {
  verb(
    group,
    "create <user>",
    "create a token for a user; it is shown only once",
    "token create alice --name laptop",
    "token create ci --name build --expires-in-days 90 --json",
  )
    .option("--name <name>", "what it is for", "command line")
    .option("--expires-in-days <days>", "when it expires; never by default", days)
    .action((user: string, options: JsonOption & { name: string; expiresInDays?: number }) =>
      withAccounts(context, async (accounts) => {
        const { token, info } = await accounts.createToken(user, options.name, options.expiresInDays);
        const value = { ...toWire(TokenInfo, info), token };
        print(options, value, `${token}\n\nCopy it now: only its hash is stored. Its id is ${info.id}.`);
      }),
    );

  verb(group, "list", "list the tokens, never their secrets", "token list", "token list --json").action(
    (options: JsonOption) =>
      withAccounts(context, async (accounts) => {
        const tokens = await accounts.listTokens();
        const rows = tokens.map((token) => [
          token.id,
          token.user,
          token.name,
          stateOf(token),
          token.lastUsedAt ?? "never",
        ]);
        const head = ["ID", "USER", "NAME", "STATE", "LAST USED"];
        print(
          options,
          { tokens: tokens.map((token) => toWire(TokenInfo, token)) },
          tokens.length === 0
            ? 'No tokens yet. See "postern token create --help".'
            : table([head, ...rows], "").trimEnd(),
        );
      }),
  );

  verb(
    group,
    "expire <token-id> <days>",
    "change when a token expires: in so many days from now, or never",
    "token expire 3f0c0c4e-7a52-4d0f-9d2e-0b7a9a6f1c11 30",
    "token expire 3f0c0c4e-7a52-4d0f-9d2e-0b7a9a6f1c11 never",
  ).action((id: string, given: string, options: JsonOption) =>
    withAccounts(context, async (accounts) => {
      const count = given === "never" ? undefined : Number(given);
      if (count !== undefined && !isDays(count))
        throw new CommanderError(2, "usage", `a number of days up to 36500, or never, not "${given}"`);
      const info = await accounts.setExpiry(id, count);
      print(options, toWire(TokenInfo, info), `${id} expires ${info.expiresAt ?? "never"}.`);
    }),
  );

  verb(
    group,
    "revoke <token-id>",
    "revoke a token and end its sessions",
    "token revoke 3f0c0c4e-7a52-4d0f-9d2e-0b7a9a6f1c11",
  ).action((id: string, options: JsonOption) =>
    withAccounts(context, async (accounts) => {
      if (!(await accounts.revokeToken(id)))
        throw new Fault(
          "missing",
          "token_not_found",
          `there is no token ${id}, or it is already revoked; "postern token list" shows all tokens`,
        );
      print(options, { id, revoked: true }, `Revoked ${id}.`);
    }),
  );
}

function stateOf({ revokedAt, expiresAt }: TokenInfo): string {
  if (revokedAt !== undefined) return "revoked";
  if (expiresAt === undefined) return "valid";
  return Date.parse(expiresAt) > Date.now() ? `valid until ${expiresAt.slice(0, 10)}` : "expired";
}

function days(given: string): number {
  const count = Number(given);
  if (!isDays(count)) throw new InvalidArgumentError("Use a number of days, up to 36500.");
  return count;
}

function isDays(count: number): boolean {
  return count > 0 && count <= 36_500;
}
