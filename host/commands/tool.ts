/** `postern tool …`. Each verb has a file in this folder. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "../../kernel/plugin.ts";
import { ENGINES } from "../author/build/engines.ts";
import { LANGUAGES, TEMPLATES } from "../author/project.ts";
import type { GivenSettings } from "../catalog/settings.ts";
import { verbsOf } from "./terminal/terminal.ts";

// biome-ignore lint/suspicious/noExplicitAny: commander passes arguments first, then an object of the options
type Given = any[];
type Verb = (context: CommandContext, ...given: Given) => Promise<void>;

export function register(group: Command, context: CommandContext): void {
  group.addHelpText(
    "after",
    `
Examples:
  $ postern tool new countdown
  $ postern tool install hello.wasm --capabilities hello.capabilities.json --name hello
  $ postern tool run weather '{"action":"get_current","city":"Berlin"}'
  $ postern tool log`,
  );
  const verb = verbsOf(group);
  // Each verb's code is loaded when it is typed.
  const lazily =
    (load: () => Promise<Verb>) =>
    async (...given: Given) =>
      (await load())(context, ...given);

  verb(
    "install <what>",
    "check a tool and install it: a folder, a .wasm file, https://…, oci://…, npm:… or a name",
    "install countdown",
    "install hello.wasm",
    "install https://example.org/hello.wasm",
    "install oci://ghcr.io/acme/hello:1.0.0",
    "install npm:@acme/hello@^1",
    "install weather",
    "install hello.wasm --capabilities capabilities.json --name hello",
    "install hello.wasm --capabilities capabilities.json --name hello --force --yes",
    "install search --set base_url=https://search.example.com",
  )
    .option("--capabilities <file>", "what the tool may do, in place of what comes with it")
    .option("--name <name>", "what the model calls it: 1 to 64 letters, digits, _ and -")
    .option("--force", "replace an installed tool of that name")
    .option(
      "--yes",
      "agree to the installation, to a replacement that can do more, and to private hosts in settings",
    )
    .option("--set <name=value>", "give a setting of the tool a value", readSet)
    .option("--allow-unsigned", "install what nobody you trust has signed, where no trust rule forbids it")
    .action(lazily(async () => (await import("./install.ts")).install));

  verb(
    "publish <dir> <url>",
    "push a built project to a registry: component, capabilities, README and recordings",
    "publish countdown oci://ghcr.io/acme/countdown",
    "publish countdown oci://ghcr.io/acme/countdown:stable --json",
    "publish countdown oci://ghcr.io/acme/countdown --key cosign.key",
  )
    .option(
      "--key <file>",
      "sign it with this key, as cosign does; COSIGN_PASSWORD opens it, or you are asked",
    )
    .action(lazily(async () => (await import("./publish.ts")).publish));

  verb(
    "search [words...]",
    "find tools to install in the indexes that TOOLS_INDEX names",
    "search",
    "search weather forecast",
    "search weather --json",
  ).action(lazily(async () => (await import("./search.ts")).search));

  verb("list", "list the installed tools", "list", "list --json").action(
    lazily(async () => (await import("./show.ts")).list),
  );

  verb("info <name>", "show what a tool is and what it may do", "info weather").action(
    lazily(async () => (await import("./show.ts")).info),
  );

  verb(
    "update [name]",
    "update a tool, or all that came from somewhere, to what is there now; the old version is kept",
    "update --check",
    "update weather",
    "update --yes --json",
  )
    .option("--check", "only show what is newer, what it may do more or less, and who signed it")
    .option("--yes", "agree to the update")
    .option("--allow-unsigned", "update to what nobody you trust has signed, where no trust rule forbids it")
    .option("--allow-older", "update although its place went back to older content")
    .option("--allow-signer-change", "update although somebody else signed it, or nobody")
    .action(lazily(async () => (await import("./update.ts")).update));

  verb(
    "rollback <name>",
    "bring back the version that the last update or replacement put aside",
    "rollback weather",
  )
    .option("--yes", "agree to a version that can do more")
    .action(lazily(async () => (await import("./update.ts")).rollback));

  verb("remove <name>", "remove an installed tool; secrets that all users share stay", "remove hello").action(
    lazily(async () => (await import("./install.ts")).remove),
  );

  verb(
    "enable <name>",
    "switch a tool on again that was switched off because it kept crashing",
    "enable weather",
  ).action(lazily(async () => (await import("./install.ts")).enable));

  verb(
    "run <name> [params]",
    "call a tool once, outside of a chat",
    `run weather '{"action":"get_current","city":"Berlin"}'`,
    `run weather '{"action":"get_current","city":"Berlin"}' --record berlin.json`,
    `run weather '{"action":"get_current","city":"Berlin"}' --replay berlin.json --json`,
  )
    .option("--record <file>", "save the HTTP exchanges to a file")
    .option("--replay <file>", "answer from a recorded file: no network, no secrets")
    .action(lazily(async () => (await import("./run.ts")).run));

  verb(
    "serve <folder>",
    "serve exactly the tools of a folder to an MCP host, on standard input and output",
    "serve ./tools",
    "serve ./tools --user ann",
  )
    .option("--user <id>", "whose calls they are: state, limits and receipts are kept apart", "operator")
    .addHelpText(
      "after",
      "\nThe folder is one of postern/tool-host. POSTERN_HOME=<folder> lets the other commands work on it, to install tools and give them credentials.",
    )
    .action(lazily(async () => (await import("./serve.ts")).serve));

  verb(
    "check <target>",
    "check a component or a project's build against the contract; installs nothing",
    "check countdown",
    "check hello.wasm --capabilities capabilities.json",
    "check hello.wasm --capabilities capabilities.json --replay recordings/*.json --json",
  )
    .option("--capabilities <file>", "what the tool would be allowed to do")
    .option("--replay <files...>", "recorded calls to replay; shows which grants they use")
    .action(lazily(async () => (await import("./author/check.ts")).check));

  verb(
    "new <dir>",
    "create a project for a new tool",
    "new countdown",
    "new countdown --lang rust",
    "new countdown --lang python",
    "new adder --template blank",
    "new repos --template auth --lang js",
  )
    .addOption(new Option("--lang <language>", "what it is written in").choices(LANGUAGES).default("ts"))
    .addOption(
      new Option(
        "--template <template>",
        "what it starts with: blank only computes, http reads a public API, auth sends a token",
      )
        .choices(TEMPLATES)
        .default("http"),
    )
    .action(lazily(async () => (await import("./author/new.ts")).create));

  verb(
    "build <dir>",
    "build a component from a project; the first build fetches the build toolchain (about 340 MB)",
    "build countdown",
    "build countdown --engine quickjs",
  )
    .addOption(engine())
    .action(lazily(async () => (await import("./author/build.ts")).build));

  verb(
    "dev <dir>",
    "on every change: build a project, install it into a separate home, replay its recordings",
    "dev countdown",
    "dev countdown --engine quickjs",
  )
    .addOption(engine())
    .action(lazily(async () => (await import("./author/dev.ts")).dev));

  const agreeing = "use secrets that were given to another tool, version or host, without asking";
  verb("auth <name>", "give a tool the credential it needs", "auth notes", "auth notes --user ann")
    .option("--yes", agreeing)
    .option("--user <id>", "for this user's calls alone")
    .action(lazily(async () => (await import("./secrets.ts")).auth));

  verb(
    "setup <name>",
    "enter a tool's settings, and the secrets it needs before it can sign you in",
    "setup notes",
    "setup search --set base_url=https://search.example.com",
  )
    .option("--yes", agreeing)
    .option("--user <id>", "for this user's calls alone")
    .option("--set <name=value>", "give a setting a value, and ask for nothing else", readSet)
    .action(lazily(async () => (await import("./secrets.ts")).setup));

  verb("log [name]", "show the receipts of tool calls, newest first", "log", "log weather --limit 5 --json")
    .option("--limit <count>", "how many", positive, 20)
    .action(lazily(async () => (await import("./show.ts")).log));
}

/** `--set name=value`, any number of times. */
function readSet(text: string, before: GivenSettings = {}): GivenSettings {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Write it as name=value.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function engine(): Option {
  return new Option("--engine <engine>", "the JavaScript engine; quickjs makes smaller components")
    .choices(ENGINES)
    .default("spidermonkey");
}

function positive(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new InvalidArgumentError("Use a whole number of at least 1.");
  return count;
}
