/** `postern user …` and `postern token …`; they also work while the service is running. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { table } from "../../../kernel/cli/table.ts";
import type { CommandContext, User } from "../../../kernel/plugin.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { toWire } from "../../../kernel/vocabulary/wire/convert.ts";
import { Account, type Accounts, createAccounts, TokenInfo } from "./accounts.ts";

export interface JsonOption {
  readonly json?: boolean;
}

export function registerUser(group: Command, context: CommandContext): void {
  verb(group, "add <id>", "add a user", "user add alice", "user add bob --role operator")
    .addOption(
      new Option("--role <role>", "what the user may do").choices(["user", "operator"]).default("user"),
    )
    .action((id: string, options: JsonOption & { role: User["role"] }) =>
      withAccounts(context, (accounts) => {
        const account = accounts.addUser(id, options.role);
        print(
          options,
          toWire(Account, account),
          `Added ${id} (role ${account.role}). Create a token with "postern token create ${id}".`,
        );
      }),
    );

  verb(group, "list", "list the users", "user list", "user list --json").action((options: JsonOption) =>
    withAccounts(context, (accounts) => {
      const users = accounts.listUsers();
      const rows = users.map(({ id, role, createdAt, name = "" }) => [id, role, createdAt, name]);
      print(
        options,
        { users: users.map((user) => toWire(Account, user)) },
        table([["USER", "ROLE", "SINCE", "NAME"], ...rows], "").trimEnd(),
      );
    }),
  );
}

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
      withAccounts(context, (accounts) => {
        const { token, info } = accounts.createToken(user, options.name, options.expiresInDays);
        const value = { ...toWire(TokenInfo, info), token };
        print(options, value, `${token}\n\nCopy it now: only its hash is stored. Its id is ${info.id}.`);
      }),
    );

  verb(group, "list", "list the tokens, never their secrets", "token list", "token list --json").action(
    (options: JsonOption) =>
      withAccounts(context, (accounts) => {
        const tokens = accounts.listTokens();
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
    "revoke <token-id>",
    "revoke a token and end its sessions",
    "token revoke 3f0c0c4e-7a52-4d0f-9d2e-0b7a9a6f1c11",
  ).action((id: string, options: JsonOption) =>
    withAccounts(context, (accounts) => {
      if (!accounts.revokeToken(id))
        throw new Fault(
          "missing",
          "token_not_found",
          `there is no token ${id}, or it is already revoked; "postern token list" shows all tokens`,
        );
      print(options, { id, revoked: true }, `Revoked ${id}.`);
    }),
  );
}

export function verb(group: Command, usage: string, about: string, ...examples: string[]): Command {
  const lines = examples.map((example) => `  $ postern ${example}`).join("\n");
  return group
    .command(usage)
    .description(about)
    .option("--json", "print JSON")
    .addHelpText("after", `\nExamples:\n${lines}`);
}

function withAccounts(context: CommandContext, work: (accounts: Accounts) => void): Promise<void> {
  return context.with(["store"], async ({ store }) => work(createAccounts(store)));
}

export function print({ json = false }: JsonOption, value: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value, undefined, 2)}\n` : `${text}\n`);
}

function stateOf({ revokedAt, expiresAt }: TokenInfo): string {
  if (revokedAt !== undefined) return "revoked";
  if (expiresAt === undefined) return "valid";
  return Date.parse(expiresAt) > Date.now() ? `valid until ${expiresAt.slice(0, 10)}` : "expired";
}

function days(given: string): number {
  const count = Number(given);
  if (!(count > 0 && count <= 36_500)) throw new InvalidArgumentError("Use a number of days, up to 36500.");
  return count;
}
