/** `tool auth` and `tool setup`: a tool's settings, and the secrets it needs, which are entered here and never shown again. */
import { isIdentity, OPERATOR } from "../../kernel/kit/people.ts";
import { agree, isInteractive, type JsonOption } from "../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, type Services } from "../../kernel/plugin.ts";
import type { InstalledTool } from "../catalog/catalog.ts";
import type { GivenSettings } from "../catalog/settings.ts";
import { gaveUp, type Prompt } from "../secrets/browser-sign-in.ts";
import type { ServiceHost } from "../service-host.ts";
import { requireTool } from "./host-access.ts";
import { terminalPrompt } from "./terminal/prompt.ts";
import { bullets, print, progress } from "./terminal/terminal.ts";

const HOW = {
  environment: "from the environment",
  shared: "as you agreed",
  oauth: "by signing in",
  manual: "as entered",
};

export interface SecretsOptions extends JsonOption {
  readonly yes?: boolean;
  readonly set?: GivenSettings;
  readonly user?: string;
}

export function auth(context: CommandContext, name: string, options: SecretsOptions): Promise<void> {
  return withUsersTool(context, name, options, async (host, tool) => {
    const { by, secret } = await host.authorize(tool, terminalPrompt(options), options.user);
    print(options, { name, secret, by, ...forUser(options) }, () => {
      const whose = options.user === undefined ? "" : ` for ${options.user}`;
      return `${name} has the secret ${secret}${whose}, ${HOW[by]}.`;
    });
  });
}

export function setup(context: CommandContext, name: string, options: SecretsOptions): Promise<void> {
  return withUsersTool(context, name, options, async (host, tool) => {
    const prompt = terminalPrompt(options);
    const given = options.set ?? (isInteractive() ? await askForSettings(tool, prompt) : {});
    const changed = Object.keys(given);
    const configured = changed.length > 0 ? await configure(host, tool, given, options) : tool;
    const entered = options.set === undefined ? await host.setUp(configured, prompt, options.user) : [];
    const all = [...changed, ...entered];
    print(options, { name, entered: all, ...forUser(options) }, () =>
      all.length === 0
        ? `${name}: nothing changed.`
        : `${name} has ${all.join(", ")}${options.user === undefined ? "" : ` for ${options.user}`}.`,
    );
  });
}

/** Refuses an unknown user: a secret stored under a mistyped id would never be used. */
function withUsersTool(
  context: CommandContext,
  name: string,
  { user }: SecretsOptions,
  work: (host: ServiceHost, tool: InstalledTool) => Promise<void>,
): Promise<void> {
  const assertKnown = async ({
    accounts,
    identities,
  }: Partial<Pick<Services, "accounts" | "identities">>) => {
    if (user === undefined || user === OPERATOR || accounts === undefined) return;
    const account = await identities?.account(user);
    if (account !== undefined) {
      const message = `${user} is paired with the account ${account}: use --user ${account}.`;
      throw new Fault("invalid", "paired_user", message, { param: "user" });
    }
    if (isIdentity(user) || (await accounts.find(user)) !== undefined) return;
    const message = `There is no user "${user}": "postern user list" shows all users.`;
    throw new Fault("missing", "user_not_found", message, { param: "user" });
  };
  return context.with(
    ["toolHost"],
    async ({ toolHost, ...use }) => {
      await assertKnown(use);
      const host = await toolHost.open();
      await work(host, await requireTool(host, name));
    },
    { wants: ["accounts", "identities"] },
  );
}

const forUser = ({ user }: SecretsOptions) => (user === undefined ? {} : { user });

function configure(host: ServiceHost, tool: InstalledTool, given: GivenSettings, options: SecretsOptions) {
  const agrees = async (added: readonly string[]) => {
    progress(`With this ${tool.name}:\n${bullets(added)}`);
    await agree(`Let ${tool.name} do that?`, options);
    return true;
  };
  const { user } = options;
  return user === undefined
    ? host.configure(tool, given, agrees)
    : host.ownSettings.configure(tool, user, given, agrees).then(() => tool);
}

async function askForSettings({ capabilities }: InstalledTool, prompt: Prompt): Promise<GivenSettings> {
  const given: Record<string, string> = {};
  for (const { name, description, value } of capabilities.settings) {
    const kept = value === undefined ? "" : ` (leave empty to keep ${value})`;
    const answer = await prompt.text(`${name}: ${description}${kept}`, new AbortController().signal);
    if (answer === undefined) throw gaveUp();
    if (answer.trim() !== "") given[name] = answer;
  }
  return given;
}
