/** `postern registry …`: sign-ins to the registries that tools come from. */
import type { Command } from "commander";
import { type JsonOption, table } from "../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../kernel/plugin.ts";
import { parseReference } from "../sources/reference.ts";
import { withHost } from "./host-access.ts";
import { terminalPrompt } from "./terminal/prompt.ts";
import { print, verbsOf } from "./terminal/terminal.ts";

interface LoginOptions extends JsonOption {
  readonly username?: string;
}

export function register(group: Command, context: CommandContext): void {
  const verb = verbsOf(group);

  verb(
    "login <registry>",
    "sign in to a registry; the password is asked for, or read from standard input, and stored encrypted",
    "login ghcr.io --username ann",
    "login registry.example:5000 --username ann < password.txt",
  )
    .option("--username <name>", "who you are there")
    .action((registry, options) => login(context, registry, options));

  verb("logout <registry>", "forget the sign-in to a registry", "logout ghcr.io").action(
    (registry, options) => logout(context, registry, options),
  );

  verb("list", "list the registries you signed in to", "list", "list --json").action((options) =>
    list(context, options),
  );
}

async function login(context: CommandContext, given: string, options: LoginOptions): Promise<void> {
  const registry = readRegistry(given);
  const prompt = terminalPrompt();
  const username = options.username ?? (await prompt.text("User name", new AbortController().signal));
  if (username === undefined || username.trim() === "" || username.includes(":"))
    throw new Fault("invalid", "username", "Pass the user name with --username; it has no colon.", {
      param: "--username",
      usage: true,
    });
  const password = (await prompt.secret(`Password or token of ${username} at ${registry}`))?.trim();
  if (password === undefined || password === "")
    throw new Fault("invalid", "password", "No password was given; nothing was stored.");
  await withHost(context, async ({ logins, openRegistry }) => {
    // Asked with it before it is kept, so that a wrong one is said now.
    const found = await openRegistry({ registry, repository: "" }, "pull", { username, password }).send("", {
      maxBytes: 64 * 1024,
    });
    if (found.status !== 200) {
      const message = `${registry} answered ${found.status}: it is no registry, or cannot be used now. Nothing was stored.`;
      throw new Fault("unavailable", "registry_answer", message);
    }
    await logins.set(registry, { username, password });
    print(options, { registry, username }, () => `Signed in to ${registry} as ${username}.`);
  });
}

async function logout(context: CommandContext, given: string, options: JsonOption): Promise<void> {
  const registry = readRegistry(given);
  await withHost(context, async ({ logins }) => {
    const removed = await logins.remove(registry);
    print(options, { registry, removed }, () =>
      removed ? `Signed out of ${registry}.` : `You were not signed in to ${registry} here.`,
    );
  });
}

async function list(context: CommandContext, options: JsonOption): Promise<void> {
  await withHost(context, async ({ logins }) => {
    const registries = await logins.list();
    print(options, { registries }, () =>
      registries.length === 0
        ? "No sign-ins here. Those in Docker's config.json are used too."
        : table(
            ["REGISTRY", "USER"],
            registries.map(({ registry, username }) => [registry, username]),
          ).trimEnd(),
    );
  });
}

/** As references name it, so that it is found again. */
function readRegistry(text: string): string {
  const host = text.replace(/^(?:oci|https):\/\//, "").replace(/\/$/, "");
  const reference = parseReference(`oci://${host}/any`);
  return reference.kind === "oci" ? reference.registry : host;
}
