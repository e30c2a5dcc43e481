/** The command line: our own commands, and those that plugins bring. */
import { Command, CommanderError } from "commander";
import { Fault } from "../fault.ts";
import { type AnyPlugin, type NodeInfo, Off, type PluginCommand } from "../plugin.ts";
import { say, warn } from "./output.ts";
import type { Session, SessionOptions } from "./session.ts";

export interface ProgramOptions {
  readonly argv: readonly string[];
  readonly version: string;
  shippedPlugins(): Promise<readonly AnyPlugin[]>;
}

interface JsonOption {
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  $ postern                     start every channel, with the terminal UI in front
  $ postern serve               start every channel except the terminal UI
  $ GATEWAY_PORT=4000 postern   settings come from the environment or from .env
  $ postern config              every setting, its value and where it came from
  $ postern doctor              check what could keep Postern from running well`;

export async function buildProgram({ argv, version, shippedPlugins }: ProgramOptions): Promise<Command> {
  const program = new Command("postern")
    .description("A self-hosted agent service whose tools are sandboxed WebAssembly components.")
    .version(version, "-V, --version")
    .configureHelp({ sortSubcommands: true })
    // An option belongs to the command it stands after: `mcp --user` and `mcp auth --user` are two.
    .enablePositionalOptions()
    .addHelpText("after", EXAMPLES);
  const asked = argv.find((word) => !word.startsWith("-"));
  const open = async (options?: SessionOptions): Promise<Session> => {
    const { openSession } = await import("./session.ts");
    const session = openSession(undefined, undefined, options);
    for (const warning of session.warnings)
      warn(`postern: ${warning}
`);
    return session;
  };
  const allPlugins = async (session: Session): Promise<readonly AnyPlugin[]> => {
    const [shipped, others] = await Promise.all([shippedPlugins(), thirdParties(session)]);
    return [...shipped, ...others];
  };

  const start = async (inFront: boolean): Promise<void> => {
    const [session, { serve }] = await Promise.all([open({ startsService: true }), import("./serve.ts")]);
    const plugins = keepTerminalFree(await allPlugins(session), whyNoTerminal(inFront));
    const screenTaken = plugins.some(
      (plugin) =>
        plugin.ownsTerminal && !(plugin.configure(session.settings.for(plugin.name)) instanceof Off),
    );
    process.exitCode = await serve(session, plugins, { version, screenTaken });
  };
  // With an action of its own commander would take a mistyped command for an argument and suggest nothing.
  if (asked === undefined) program.action(() => start(true));

  program
    .command("serve")
    .description("start every enabled channel except the terminal UI")
    .addHelpText("after", "\nExample:\n  $ HTTP_ENABLED=true HTTP_WEBHOOK_SECRET=… postern serve")
    .action(() => start(false));

  program
    .command("config")
    .description("show every setting, its value and where it came from, with secrets hidden")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern config\n  $ postern config --json | jq '.settings[] | select(.source != \"default\")'",
    )
    .action(async ({ json = false }: JsonOption) => {
      const [session, { showConfig }] = await Promise.all([open(), import("./commands/config.ts")]);
      showConfig(session, await allPlugins(session), json);
    });

  program
    .command("doctor")
    .description("check everything a start needs and say what to do; changes nothing")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern doctor")
    .action(async ({ json = false }: JsonOption) => {
      const [session, doctor] = await Promise.all([open(), import("./commands/doctor.ts")]);
      doctor.printFindings(await doctor.examine(session, await allPlugins(session)), json);
    });

  program
    .command("status")
    .description("show whether Postern is running, with which channels, and the nodes of its store")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern status && echo up")
    .action(async ({ json = false }: JsonOption) => {
      const [session, { showStatus }] = await Promise.all([open(), import("./commands/status.ts")]);
      const isShared = /^postgres(ql)?:/i.test(session.settings.for("store").connection("STORE_URL") ?? "");
      showStatus(session.home, json, isShared ? await nodesOf(session) : undefined);
    });

  program
    .command("completion")
    .description("print a shell completion script")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText("after", '\nExample:\n  $ eval "$(postern completion bash)"')
    .action(async (shell: string) => {
      const { completionScript, SHELLS } = await import("./commands/completion.ts");
      const known = SHELLS.find((name) => name === shell);
      if (!known)
        throw new CommanderError(
          2,
          "usage",
          `postern completion supports ${SHELLS.join(", ")}, not "${shell}"`,
        );
      say(completionScript(program, known));
    });

  const nodesOf = async (session: Session): Promise<readonly NodeInfo[]> => {
    const { createCommandContext } = await import("./command-context.ts");
    let nodes: readonly NodeInfo[] = [];
    await createCommandContext(session, shippedPlugins, version).with(["store"], async ({ store }) => {
      nodes = await store.node.list();
    });
    return nodes;
  };

  const isOwn = program.commands.some((command) => command.name() === asked);
  const listsAll = asked === "completion" || asked === "help" || (asked === undefined && wantsHelp(argv));
  if (listsAll || (asked !== undefined && !isOwn)) {
    const offered = await pluginCommands(asked, listsAll, program, shippedPlugins, open);
    for (const { command, isShipped } of offered)
      await addCommand(program, command, isShipped, listsAll || command.name === asked);
  }
  for (const command of withSubcommands(program)) {
    command.exitOverride().showHelpAfterError("(add --help to see how to use it)");
  }
  return program;

  async function addCommand(
    parent: Command,
    offered: PluginCommand,
    isShipped: boolean,
    isWanted: boolean,
  ): Promise<void> {
    const { name, about, example, startsService = false, everyPlugin = startsService, load } = offered;
    const command = sharedCommand(parent, name, about) ?? parent.command(name).description(about);
    if (example !== undefined) command.addHelpText("after", `\nExample:\n  $ ${example}`);
    // Completion and help describe every command; anything else loads only the one that was typed.
    if (!isWanted) return;
    const [session, { createCommandContext }, register] = await Promise.all([
      open({ startsService: startsService && !listsAll }),
      import("./command-context.ts"),
      load(),
    ]);
    // What only looks at tools, jobs or people needs our plugins alone, and runs nobody else's code.
    const plugins = isShipped && !everyPlugin ? shippedPlugins : () => allPlugins(session);
    register(command, createCommandContext(session, plugins, version));
  }
}

/** Two of our plugins may add to one command, such as `mcp`: one its action, the other its subcommands. */
function sharedCommand(parent: Command, name: string, about: string): Command | undefined {
  const command = parent.commands.find((existing) => existing.name() === name);
  return command?.enablePositionalOptions().description(`${command.description()}; ${about}`);
}

interface OfferedCommand {
  readonly command: PluginCommand;
  readonly isShipped: boolean;
}

/** Third parties' code is read only when no command of ours was meant, so that theirs cannot slow down or break ours. */
async function pluginCommands(
  asked: string | undefined,
  listsAll: boolean,
  program: Command,
  shippedPlugins: ProgramOptions["shippedPlugins"],
  open: () => Promise<Session>,
): Promise<readonly OfferedCommand[]> {
  const shipped = (await shippedPlugins()).flatMap(({ commands = [] }) => commands);
  const offered = shipped.map((command) => ({ command, isShipped: true }));
  if (!listsAll && shipped.some(({ name }) => name === asked)) return offered;
  const taken = new Set([...program.commands.map((command) => command.name()), "help"]);
  for (const { name } of shipped) taken.add(name);
  const theirs: OfferedCommand[] = [];
  for (const { name: plugin, commands = [] } of await thirdParties(await open())) {
    for (const command of commands) {
      if (taken.has(command.name))
        throw new Fault(
          "config",
          "bad_plugin",
          `PLUGINS: plugin "${plugin}" adds the command "${command.name}", which exists already: rename it, or remove the plugin from PLUGINS`,
          { param: "PLUGINS" },
        );
      taken.add(command.name);
      theirs.push({ command, isShipped: false });
    }
  }
  return [...offered, ...theirs];
}

async function thirdParties({ plugins, pluginsFolder }: Session): Promise<readonly AnyPlugin[]> {
  if (plugins.length === 0) return [];
  const { loadPlugins } = await import("./loader.ts");
  return loadPlugins(plugins, pluginsFolder);
}

function wantsHelp(argv: readonly string[]): boolean {
  return argv.includes("--help") || argv.includes("-h");
}

function withSubcommands(program: Command): readonly Command[] {
  return [program, ...program.commands, ...program.commands.flatMap((group) => group.commands)];
}

function whyNoTerminal(inFront: boolean): string | undefined {
  if (!inFront) return '"postern serve" runs without it';
  return process.stdin.isTTY && process.stdout.isTTY
    ? undefined
    : 'there is no terminal; use "postern serve" instead';
}

/** A plugin that owns the terminal is kept off where there is none; its settings are still read and checked. */
function keepTerminalFree(plugins: readonly AnyPlugin[], why: string | undefined): readonly AnyPlugin[] {
  if (why === undefined) return plugins;
  return plugins.map((plugin) =>
    plugin.ownsTerminal
      ? {
          ...plugin,
          configure: (env) => {
            const config = plugin.configure(env);
            return config instanceof Off ? config : new Off(why);
          },
        }
      : plugin,
  );
}
