/** `postern user pair …`: pairs webhook identities with accounts; it also works while the service is running. */
import type { Command } from "commander";
import { Identity, table, toWire } from "../../../kernel/kit.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import { createAccounts } from "../records/accounts.ts";
import { type JsonOption, print, verb } from "./verb.ts";

export function registerPairing(group: Command, context: CommandContext): void {
  verb(
    group,
    "pair <identity> <account>",
    "say which account a webhook identity is: its threads and memory move there, and messages that wait are run",
    "user pair webhook/ann ann",
  ).action((identity: string, account: string, options: JsonOption) =>
    context.with(["store", "identities"], async ({ store, identities }) => {
      await identities.pair(identity, await (await createAccounts(store)).mustFind(account));
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
      if (!(await identities.unpair(identity)))
        throw new Fault("missing", "not_paired", `${identity} is not paired with an account.`, {
          param: "identity",
        });
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
