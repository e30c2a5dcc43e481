/** `postern webhook …`; the commands also work while the service is running. */
import type { Command } from "commander";
import type { CommandContext } from "../../kernel/plugin.ts";
import { callbackSecret } from "./keys.ts";

interface JsonOption {
  readonly json?: boolean;
}

export function register(group: Command, context: CommandContext): void {
  group
    .command("callback-key")
    .description("print the key that callbacks are signed with, for whoever receives them")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern webhook callback-key")
    .action((options: JsonOption) =>
      context.with(["store"], async ({ store }) => {
        const key = await callbackSecret(store);
        print(options, { key }, key);
      }),
    );
}

function print({ json = false }: JsonOption, value: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value, undefined, 2)}\n` : `${text}\n`);
}
