/** The command line: our own commands, and those that plugins bring. */
import { statSync } from "node:fs";
import { Command, CommanderError, Help, Option } from "commander";
import { Fault } from "../fault.ts";
import { compose } from "../order.ts";
import { type AnyPlugin, Off, type PluginCommand, type Resume } from "../plugin.ts";
import { warn } from "../terminal/output.ts";
import { addOwnCommands } from "./commands/built-in.ts";
import { findCommand, givenPort, PORT_ABOUT, type PortOption, parsePort } from "./option-values.ts";
import type { Session, SessionOptions } from "./service/session.ts";
import type { StoreAccess } from "./store-access.ts";

export interface ProgramOptions {
  readonly argv: readonly string[];
  readonly home?: string | undefined;
  readonly version: string;
  /** It is asked about and not run: warnings are not printed, and plugins that cannot be loaded are left out. */
  readonly isDescribed?: boolean;
  shippedPlugins(): Promise<readonly AnyPlugin[]>;
  store(): Promise<StoreAccess>;
}

const EXAMPLES = `
Examples:
  $ postern                     start every channel, with the terminal UI in front
  $ postern --continue          the same, with the newest thread open
  $ postern serve               start every channel except the terminal UI
  $ postern --port 4000         the page and the API on another port
  $ postern serve --home ~/work a second service, with a home of its own
  $ MODEL_NAME=… postern        settings come from the environment or from .env
  $ postern config              every setting, its value and where it came from
  $ postern doctor              check what could keep Postern from running well`;

export async function buildProgram(options: ProgramOptions): Promise<Command> {
  const { argv, home, version, isDescribed = false, shippedPlugins } = options;
  const program: Command = new Command("postern")
    .description("A self-hosted agent service whose tools are sandboxed WebAssembly components.")
    .version(version, "-V, --version")
    .option("--home <folder>", "the service home, instead of POSTERN_HOME; with any command")
    .option("--port <port>", PORT_ABOUT, parsePort)
    .option("--thread <id>", "go on with this thread in the terminal UI; the beginning of its id is enough")
    .addOption(
      new Option("--continue", "go on with the newest thread in the terminal UI").conflicts("thread"),
    )
    .configureHelp({
      sortSubcommands: true,
      // The list of all has names and what they are for: what each takes is not loaded for it.
      subcommandTerm: (command) =>
        command.parent === program ? command.name() : new Help().subcommandTerm(command),
      showGlobalOptions: true,
      visibleGlobalOptions: ({ parent }) =>
        parent === null ? [] : program.options.filter(({ long }) => long === "--home"),
    })
    // An option belongs to the command it stands after: `mcp --user` and `mcp auth --user` are two.
    .enablePositionalOptions()
    .addHelpText("after", EXAMPLES);
  const asked = findCommand(argv, program.options);
  const open = async ({ given, ...rest }: SessionOptions = {}): Promise<Session> => {
    const { openSession } = await import("./service/session.ts");
    const session = openSession(undefined, undefined, {
      ...rest,
      given: { ...given, ...(home !== undefined && { POSTERN_HOME: home }) },
    });
    if (home !== undefined && statSync(session.home, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new CommanderError(2, "usage", `postern: --home ${session.home} is not a folder`);
    for (const warning of isDescribed ? [] : session.warnings) warn(`postern: ${warning}\n`);
    return session;
  };
  const allPlugins = async (session: Session): Promise<readonly AnyPlugin[]> => {
    const [shipped, others] = await Promise.all([shippedPlugins(), thirdParties(session)]);
    return compose(shipped, others);
  };

  const start = async (inFront: boolean, port = program.opts<PortOption>().port): Promise<void> => {
    const resume = resumed(program.opts<ResumeOptions>());
    const [session, { serve }] = await Promise.all([
      open({ startsService: true, given: givenPort(port) }),
      import("./service/serve.ts"),
    ]);
    const plugins = keepTerminalFree(await allPlugins(session), whyNoTerminal(inFront));
    const screenTaken = plugins.some(
      (plugin) =>
        plugin.ownsTerminal && !(plugin.configure(session.settings.for(plugin.name)) instanceof Off),
    );
    if (resume && !screenTaken)
      throw new CommanderError(2, "usage", "postern: --thread and --continue need the terminal UI");
    process.exitCode = await serve(session, plugins, { version, screenTaken, resume });
  };
  // If the program had an action, commander would take a mistyped command for an argument and suggest nothing.
  if (asked === undefined) program.action(() => start(true));

  const programFor = (words: readonly string[]) =>
    buildProgram({ ...options, argv: words, isDescribed: true });
  addOwnCommands(program, {
    open,
    start,
    programFor,
    allPlugins,
    shippedPlugins,
    version,
    store: options.store,
  });

  const isOwn = program.commands.some((command) => command.name() === asked);
  const describesAll = asked === "completion" || asked === "help";
  const listsAll = describesAll || (asked === undefined && wantsHelp(argv));
  const listsNames = isDescribed && asked === undefined;
  if (listsAll || listsNames || (asked !== undefined && !isOwn)) {
    const offering = pluginCommands(asked, listsAll, program, shippedPlugins, open);
    // Completion stays silent about a plugin that cannot be loaded.
    const offered = await (isDescribed
      ? offering.catch(async () => offersOf(await shippedPlugins()))
      : offering);
    for (const { command, isShipped } of offered)
      await addCommand(program, command, isShipped, describesAll || command.name === asked);
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
    // Completion and `help` describe every command; anything else loads only the one that was typed.
    if (!isWanted) return;
    const [session, { createCommandContext }, register] = await Promise.all([
      open({ startsService: startsService && !listsAll }),
      import("./command-context.ts"),
      load(),
    ]);
    // A command that only looks at tools, jobs or people needs our plugins alone, and runs nobody else's code.
    const plugins = isShipped && !everyPlugin ? shippedPlugins : () => allPlugins(session);
    register(command, createCommandContext(session, plugins, version));
  }
}

interface ResumeOptions {
  readonly thread?: string;
  readonly continue?: boolean;
}

function resumed({ thread, continue: isNewest = false }: ResumeOptions): Resume | undefined {
  return thread === undefined ? (isNewest ? "newest" : undefined) : { thread };
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

function offersOf(plugins: readonly AnyPlugin[]): readonly OfferedCommand[] {
  return plugins.flatMap(({ operations }) =>
    (operations?.commands ?? []).map((command) => ({ command, isShipped: true })),
  );
}

/** Third parties' code is read only when no command of ours was meant, so that theirs cannot slow down or break ours. */
async function pluginCommands(
  asked: string | undefined,
  listsAll: boolean,
  program: Command,
  shippedPlugins: ProgramOptions["shippedPlugins"],
  open: () => Promise<Session>,
): Promise<readonly OfferedCommand[]> {
  const offered = offersOf(await shippedPlugins());
  const shipped = offered.map(({ command }) => command);
  if (!listsAll && shipped.some(({ name }) => name === asked)) return offered;
  const taken = new Set([...program.commands.map((command) => command.name()), "help"]);
  for (const { name } of shipped) taken.add(name);
  const theirs: OfferedCommand[] = [];
  for (const { name: plugin, operations } of await thirdParties(await open())) {
    for (const command of operations?.commands ?? []) {
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
  const { loadPlugins } = await import("./service/loader.ts");
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
