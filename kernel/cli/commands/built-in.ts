/** The commands of Postern itself; plugins bring the others. The code of each is loaded when it is typed. */

import { type Command, CommanderError } from "commander";
import { say } from "../../terminal/output.ts";
import type { NodeInfo } from "../../vocabulary/store.ts";
import {
  givenPort,
  PORT_ABOUT,
  type PortOption,
  parseCount,
  parseLevel,
  parsePort,
  parseSince,
} from "../option-values.ts";
import type { Session } from "../service/session.ts";
import type { Ways } from "./command-setup.ts";
import type { ChangeParts } from "./config-change.ts";
import { applyFixes, type FixOptions } from "./doctor-fix.ts";
import type { LogOptions } from "./logs.ts";

interface JsonOption {
  readonly json?: boolean;
}

export function addOwnCommands(program: Command, ways: Ways): void {
  program
    .command("serve")
    .description("start every enabled channel except the terminal UI")
    .option("--port <port>", PORT_ABOUT, parsePort)
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern serve --port 4000\n  $ HTTP_ENABLED=true HTTP_WEBHOOK_SECRET=… postern serve",
    )
    .action(({ port }: PortOption) => ways.start(false, port));

  addConfigCommands(program, ways);

  program
    .command("doctor")
    .description("check everything a start needs and say what to do; changes nothing without --fix")
    .option("--port <port>", PORT_ABOUT, parsePort)
    .option("--fix", "fix what can be fixed safely; nothing that a person wrote is deleted")
    .option("--dry-run", "with --fix: only list what would be done")
    .option("--yes", "with --fix: also what signs people out or puts something of yours aside")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern doctor\n  $ postern doctor --port 4000\n  $ postern doctor --fix --dry-run",
    )
    .action(async ({ port, json = false, ...options }: JsonOption & PortOption & FixOptions) => {
      const [session, doctor] = await Promise.all([
        ways.open({ given: givenPort(port) }),
        import("./doctor.ts"),
      ]);
      const plugins = await ways.allPlugins(session);
      const store = await ways.store();
      const findings = await doctor.examine(session, plugins, store);
      if (!options.fix) return doctor.printFindings(findings, json);
      const { createCommandContext } = await import("../command-context.ts");
      const context = createCommandContext(session, async () => plugins, ways.version);
      const fixes = await applyFixes(findings, options, context);
      // Settings remember their problems, so they are read anew.
      const again = options.dryRun
        ? findings
        : await doctor.examine(await ways.open({ given: givenPort(port) }), plugins, store);
      doctor.printFindings(again, json, fixes);
    });

  program
    .command("status")
    .description("show whether Postern is running, with which channels, and the nodes of its store")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern status && echo up")
    .action(async ({ json = false }: JsonOption) => {
      const [session, { showStatus }] = await Promise.all([ways.open(), import("./status.ts")]);
      const isShared = /^postgres(ql)?:/i.test(session.settings.for("store").connection("STORE_URL") ?? "");
      showStatus(session.home, json, isShared ? await nodesOf(session, ways) : undefined);
    });

  program
    .command("logs")
    .description("show the newest lines of this home's log, also after the service has ended")
    .option("-f, --follow", "go on with each new line")
    .option("-n, --lines <count>", "how many of the newest; 100 where no time is given", parseCount)
    .option("--level <level>", "this level and what is more severe", parseLevel)
    .option("--turn <turn_id>", "only lines about this turn")
    .option("--user <user_id>", "only lines about this user")
    .option("--since <time>", "30s, 10m, 2h or 3d ago, or a time", parseSince)
    .option("--json", "print the lines as they are stored: JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern logs -f\n  $ postern logs --level warn --since 2h\n  $ postern logs --json -n 1000 | jq -r 'select(.plugin == \"agent\").message'",
    )
    .action(async (options: LogOptions) => {
      const [{ home }, { showLogs }] = await Promise.all([ways.open(), import("./logs.ts")]);
      await showLogs(home, options);
    });

  program
    .command("stop")
    .description("stop the service that runs with this home, and wait until it has ended")
    .option("--timeout <secs>", "how long to wait; by default 15 s more than STOP_GRACE_SECS", parseCount)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nTurns may finish first, for STOP_GRACE_SECS.\n\nExamples:\n  $ postern stop\n  $ postern stop --timeout 120",
    )
    .action(async ({ timeout, json = false }: JsonOption & { timeout?: number }) => {
      const [{ home, graceSecs }, { stopService }] = await Promise.all([ways.open(), import("./stop.ts")]);
      await stopService(home, { timeoutSecs: timeout ?? graceSecs + 15, json });
    });

  program
    .command("upgrade")
    .description("say how to upgrade, and check the store, the backup and the disk first; changes nothing")
    .option("--check", "ask the npm registry for the newest version")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  $ postern upgrade\n  $ postern upgrade --check")
    .action(async ({ check = false, json = false }: JsonOption & { check?: boolean }) => {
      const [session, { showUpgrade }, { tablesOf }] = await Promise.all([
        ways.open(),
        import("./upgrade.ts"),
        import("../../kernel.ts"),
      ]);
      const tables = await tablesOf(await ways.shippedPlugins());
      const { version } = ways;
      const registry = session.settings.for("kernel").url("NPM_CONFIG_REGISTRY");
      await showUpgrade(session, tables, await ways.store(), { version, check, json, registry });
    });

  program
    .command("man")
    .description("show the manual; piped, print it for man -l")
    .addHelpText("after", "\nExamples:\n  $ postern man\n  $ postern man > postern.1")
    .action(async () => {
      const [manual, { showManual }] = await Promise.all([ways.programFor(["help"]), import("./man.ts")]);
      showManual(manual, ways.version);
    });

  program
    .command("complete", { hidden: true })
    .description("print what may follow these words, for the shells")
    .argument("[words...]")
    .addHelpText("after", "\nExample:\n  $ postern complete -- tool info ''")
    .action(async (words: readonly string[]) => {
      const { complete } = await import("./complete.ts");
      // Nobody wants to read an error while typing.
      await complete(words, ways).catch(() => {});
    });

  program
    .command("completion")
    .description("print a script that completes commands, options and names in your shell")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText(
      "after",
      '\nExamples:\n  $ eval "$(postern completion bash)"      in ~/.bashrc; the same with zsh in ~/.zshrc\n  $ postern completion fish | source',
    )
    .action(async (shell: string) => {
      const { completionScript, SHELLS } = await import("./completion.ts");
      const known = SHELLS.find((name) => name === shell);
      if (!known)
        throw new CommanderError(
          2,
          "usage",
          `postern completion supports ${SHELLS.join(", ")}, not "${shell}"`,
        );
      say(completionScript(known));
    });
}

function addConfigCommands(program: Command, ways: Ways): void {
  const show = async (json: boolean, only?: string) => {
    const [session, { showConfig }] = await Promise.all([ways.open(), import("./config.ts")]);
    await showConfig(session, await ways.allPlugins(session), await ways.store(), json, only);
  };
  const changing = async (json: boolean): Promise<ChangeParts> => {
    const session = await ways.open();
    return { session, json, version: ways.version, plugins: () => ways.allPlugins(session) };
  };
  const config = program
    .command("config")
    .description("show every setting, its value and where it came from, with secrets hidden; change some")
    .option("--json", "print JSON")
    .enablePositionalOptions()
    .addHelpText(
      "after",
      `
Examples:
  $ postern config
  $ postern config set DAILY_USD_CAP 5
  $ postern config --json | jq '.settings[] | select(.source != "default")'`,
    )
    .action(({ json = false }: JsonOption) => show(json));
  config
    .command("get")
    .description("print the value in use of one setting")
    .argument("<name>")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern config get MODEL_NAME")
    .action((name: string, { json = false }: JsonOption) => show(json, name));
  config
    .command("set")
    .description("keep settings in the store, where a running service picks them up")
    .argument("<name[=value]...>", "a name and its value, or several NAME=value")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
The environment and .env win: what they set is changed there. The value of a secret is asked for, or read from standard input.

Examples:
  $ postern config set CHAT_RATE_LIMIT 60
  $ postern config set ANTHROPIC_API_KEY
  $ postern config set OPENAI_API_KEY < key.txt
  $ postern config set MODEL_BASE_URL=http://127.0.0.1:8000/v1 MODEL_NAME=qwen MODEL_API_KEY`,
    )
    .action(async (words: readonly string[], { json = false }: JsonOption) => {
      const { setSettings } = await import("./config-change.ts");
      await setSettings(words, await changing(json));
    });
  config
    .command("unset")
    .description("remove settings from the store: their defaults count again")
    .argument("<name...>")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern config unset DAILY_USD_CAP")
    .action(async (names: readonly string[], { json = false }: JsonOption) => {
      const { unsetSettings } = await import("./config-change.ts");
      await unsetSettings(names, await changing(json));
    });
}

async function nodesOf(session: Session, { shippedPlugins, version }: Ways): Promise<readonly NodeInfo[]> {
  const { createCommandContext } = await import("../command-context.ts");
  let nodes: readonly NodeInfo[] = [];
  await createCommandContext(session, shippedPlugins, version).with(["store"], async ({ store }) => {
    nodes = await store.node.list();
  });
  return nodes;
}
