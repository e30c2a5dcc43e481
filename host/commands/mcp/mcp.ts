/** `postern mcp add, list, info …`: the servers of others whose tools the agent may use. Each verb has a file in this folder. */

import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "../../../kernel/plugin.ts";
import { verbsOf } from "../terminal/terminal.ts";
import { add } from "./add.ts";
import { agreeTo, edit, remove } from "./change.ts";
import { index } from "./listed.ts";
import { OPERATOR } from "./server-access.ts";
import { info, list, test } from "./show.ts";
import { auth } from "./sign-in.ts";

export function register(group: Command, context: CommandContext): void {
  group.addHelpText(
    "after",
    `
Servers of others, whose tools the agent may use:
  $ postern mcp add notes https://mcp.example.com/mcp
  $ postern mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/shared
  $ postern mcp index
  $ postern mcp add linear
  $ postern mcp list
  $ postern mcp info notes`,
  );
  const verb = verbsOf(group);

  verb(
    "add [name] [target...]",
    "connect to a server, show its tools and add it after you agree; a command runs with your rights; without a target, a server of the list",
    "add",
    "add linear",
    "add filesystem /srv/shared",
    "add notes https://mcp.example.com/mcp",
    "add notes --token --yes https://mcp.example.com/mcp",
    "add mail --per-user https://mail.example.com/mcp",
    "add files --env API_KEY -- npx -y @modelcontextprotocol/server-filesystem /srv/shared",
  )
    .option(
      "--env <NAME=value>",
      "an environment variable of the command; without a value it is asked for (repeat for more)",
      collect,
      {},
    )
    .option("--token", "ask for a bearer token that the server takes")
    .option("--per-user", "each user signs in with a credential of their own")
    .option("--yes", "agree: its read-only tools run without asking, the others ask first")
    .action((name, target, options, command) => add(context, name, target, options, hasDashes(command)));

  verb(
    "index [words...]",
    "list well-known servers, and those of MCP_INDEX, that can be added by name",
    "index",
    "index mail",
    "index --json",
  ).action((words, options) => index(context, words, options));

  verb("list", "list the servers", "list", "list --json").action((options) => list(context, options));

  verb(
    "info <name>",
    "show a server's tools, which of them ask, and what changed in those that are held back",
    "info notes",
    "info notes --verbose",
    "info notes --json",
  )
    .option("--verbose", "show descriptions whole")
    .action((name, options) => info(context, name, options));

  verb(
    "agree <name> [tools...]",
    "show what is new in tools that are held back, and let them be used after you agree",
    "agree notes",
    "agree notes search --yes",
  )
    .option("--yes", "agree without being asked")
    .action((name, tools, options) => agreeTo(context, name, tools, options));

  verb(
    "edit <name>",
    "edit a server's file: which tools, which run without asking, limits, credential ($EDITOR)",
    "edit notes",
    "edit notes --file notes.json",
  )
    .option("--file <file>", "take this file instead of opening an editor")
    .action((name, options) => edit(context, name, options));

  verb("remove <name>", "remove a server with its credentials", "remove notes").action((name, options) =>
    remove(context, name, options),
  );

  verb(
    "auth <name>",
    "sign in to a server, or give it a token",
    "auth notes",
    "auth mail --user ann",
    "auth notes --token",
  )
    .option("--user <id>", "for this user, where each has a credential of their own", OPERATOR)
    .option("--token", "ask for a token instead of signing in")
    .option("--sign-out", "forget the credential")
    .action((name, options) => auth(context, name, options));

  verb("test <name>", "connect to a server and read its tools", "test notes")
    .option("--user <id>", "with this user's credential", OPERATOR)
    .action((name, options) => test(context, name, options));
}

/** A name without a value means that the person is asked for it. */
function collect(text: string, before: Record<string, string | undefined>) {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new InvalidArgumentError("Use NAME=value, or NAME alone to be asked for the value.");
  return { ...before, [name]: at < 0 ? undefined : text.slice(at + 1) };
}

/** A command comes after `--`, so that its options are not taken for ours. */
function hasDashes(command: Command): boolean {
  let root = command;
  while (root.parent !== null) root = root.parent;
  return (root as Command & { readonly rawArgs: readonly string[] }).rawArgs.includes("--");
}
