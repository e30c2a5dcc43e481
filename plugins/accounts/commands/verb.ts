/** The parts that the account commands share: declaring a verb, opening the records, printing text or JSON. */
import type { Command } from "commander";
import { say, sayJson } from "../../../kernel/kit.ts";
import type { CommandContext } from "../../../kernel/plugin.ts";
import { type Accounts, createAccounts } from "../records/accounts.ts";
import { tellRevoked } from "../records/revocations.ts";

export interface JsonOption {
  readonly json?: boolean;
}

export function verb(group: Command, usage: string, about: string, ...examples: string[]): Command {
  const lines = examples.map((example) => `  $ postern ${example}`).join("\n");
  return group
    .command(usage)
    .description(about)
    .option("--json", "print JSON")
    .addHelpText("after", `\nExamples:\n${lines}`);
}

export function withAccounts(
  context: CommandContext,
  work: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  return context.with(["store"], async ({ store }) => {
    await work(await createAccounts(store));
    await tellRevoked(store);
  });
}

export function print({ json = false }: JsonOption, value: object, text: string): void {
  if (json) sayJson(value, 2);
  else say(`${text}\n`);
}
