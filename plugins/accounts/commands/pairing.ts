/** `postern user pair …`: pairs identities of channels with accounts; it also works while the service is running. */
import type { Command } from "commander";
import { Identity } from "../../../kernel/kit/people.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import { type JsonOption, print, table, verb } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, type Services } from "../../../kernel/plugin.ts";

export function registerPairing(group: Command, context: CommandContext): void {
  verb(
    group,
    "pair <identity> <account>",
    "say which account an identity of a channel is: its threads and memory move there, and messages that wait are run",
    "user pair webhook/ann ann",
  ).action((identity: string, account: string, options: JsonOption) =>
    withIdentities(context, async (identities) => {
      await identities.pair(identity, account);
      print(options, { identity, account }, `Paired ${identity} with ${account}.`);
    }),
  );

  verb(
    group,
    "unpair <identity>",
    "let an identity speak for itself again; what moved to the account stays there",
    "user unpair webhook/ann",
  ).action((identity: string, options: JsonOption) =>
    withIdentities(context, async (identities) => {
      if (!(await identities.unpair(identity)))
        throw new Fault("missing", "not_paired", `${identity} is not paired with an account.`, {
          param: "identity",
        });
      print(options, { identity, account: null }, `${identity} is no longer paired.`);
    }),
  );

  verb(group, "identities", "list the identities of channels and their accounts", "user identities").action(
    (options: JsonOption) =>
      withIdentities(context, async (identities) => {
        const known = await identities.list();
        const rows = known.map(({ id, account = "", held }) => [id, account, held === 0 ? "" : String(held)]);
        print(
          options,
          { identities: known.map((identity) => toWire(Identity, identity)) },
          known.length === 0
            ? "No identities yet."
            : table(["IDENTITY", "ACCOUNT", "WAITING"], rows).trimEnd(),
        );
      }),
  );
}

function withIdentities(
  context: CommandContext,
  work: (identities: Services["identities"]) => Promise<void>,
): Promise<void> {
  return context.with(["identities"], ({ identities }) => work(identities));
}
