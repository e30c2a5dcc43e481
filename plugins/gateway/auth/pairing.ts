/** `postern user pair …`: says which account a webhook identity is; works while the service is running too. */
import type { Command } from "commander";
import { Identity, table, toWire } from "../../../kernel/kit.ts";
import { type AccountKey, type CommandContext, Fault, type Services } from "../../../kernel/plugin.ts";
import { type Accounts, createAccounts } from "./accounts.ts";
import { type JsonOption, print, verb } from "./commands.ts";

export function registerPairing(group: Command, context: CommandContext): void {
  verb(
    group,
    "pair <identity> <account>",
    "say which account a webhook identity is: its threads and memory move there, and messages that wait are run",
    "user pair webhook/ann ann",
  ).action((identity: string, account: string, options: JsonOption) =>
    context.with(["store", "identities"], async ({ store, identities }) => {
      await identities.pair(identity, await accountOf(await createAccounts(store), account));
      print(options, { identity, account }, `Paired ${identity} with ${account}.`);
    }),
  );

  verb(
    group,
    "unpair <identity>",
    "let a webhook identity speak for itself again; what moved to the account stays there",
    "user unpair webhook/ann",
  ).action((identity: string, options: JsonOption) =>
    context.with(["identities"], async ({ identities }) => {
      await unpair(identities, identity);
      print(options, { identity, account: null }, `${identity} is no longer paired.`);
    }),
  );

  verb(group, "identities", "list the webhook identities and their accounts", "user identities").action(
    (options: JsonOption) =>
      context.with(["identities"], async ({ identities }) => {
        const known = await identities.list();
        const rows = known.map(({ id, account = "", held }) => [id, account, held === 0 ? "" : String(held)]);
        print(
          options,
          { identities: known.map((identity) => toWire(Identity, identity)) },
          known.length === 0
            ? "No webhook identities yet."
            : table(["IDENTITY", "ACCOUNT", "WAITING"], rows).trimEnd(),
        );
      }),
  );
}

/** The account that an operator names; a fault where there is none. */
export async function accountOf(accounts: Pick<Accounts, "findUser">, id: string): Promise<AccountKey> {
  const account = await accounts.findUser(id);
  if (account !== undefined) return account;
  throw new Fault(
    "missing",
    "user_not_found",
    `There is no user "${id}": add it first, with "postern user add ${id}" or POST /api/users.`,
    { param: "account" },
  );
}

export async function unpair(identities: Services["identities"], identity: string): Promise<void> {
  if (await identities.unpair(identity)) return;
  throw new Fault("missing", "not_paired", `${identity} is not paired with an account.`, {
    param: "identity",
  });
}
