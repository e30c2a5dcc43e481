/** `tool auth` and `tool setup`: the secrets a tool needs, entered here and never shown again. */
import type { CommandContext } from "../../kernel/plugin.ts";
import { withTool } from "./opening.ts";
import { terminalPrompt } from "./terminal/prompt.ts";
import { type JsonOption, print } from "./terminal/terminal.ts";

const HOW = {
  environment: "from the environment",
  shared: "as you agreed",
  oauth: "by signing in",
  manual: "as entered",
};

export interface SecretsOptions extends JsonOption {
  /** Agrees to use secrets that were given to another tool, version or host. */
  readonly yes?: boolean;
}

export function auth(context: CommandContext, name: string, options: SecretsOptions): Promise<void> {
  return withTool(context, name, async (host, tool) => {
    const { by, secret } = await host.authorize(tool, terminalPrompt(options));
    print(options, { name, secret, by }, () => `${name} has the secret ${secret}, ${HOW[by]}.`);
  });
}

export function setup(context: CommandContext, name: string, options: SecretsOptions): Promise<void> {
  return withTool(context, name, async (host, tool) => {
    const entered = await host.setUp(tool, terminalPrompt(options));
    print(options, { name, entered }, () =>
      entered.length === 0 ? `${name}: nothing changed.` : `${name} has ${entered.join(", ")}.`,
    );
  });
}
