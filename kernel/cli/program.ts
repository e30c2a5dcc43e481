/** The command line: `serve`, the operator's commands, and those that plugins bring. */
import { statSync } from "node:fs";
import { Command, CommanderError, Help, Option } from "commander";
import { Fault } from "../fault.ts";
import { compose, turnedOff } from "../order.ts";
import {
  type AnyPlugin,
  type CommandContext,
  type CommandGroup,
  Off,
  type PluginCommand,
  type Resume,
} from "../plugin.ts";
import { sayError, sayHelp, sayPainted, warn } from "../terminal/output.ts";
import { OPERATOR } from "../vocabulary/user.ts";
import { findCommand, givenPort, PORT_ABOUT, type PortOption, parsePort } from "./option-values.ts";
import type { Session, SessionOptions } from "./service/session.ts";

export interface ProgramOptions {
  readonly argv: readonly string[];
  readonly home?: string | undefined;
  readonly url?: string | undefined;
  readonly version: string;
  /** It is asked about and not run: warnings are not printed, and plugins that cannot be loaded are left out. */
  readonly isDescribed?: boolean;
  readonly operatorCommands: readonly OperatorCommand[];
  shippedPlugins(): Promise<readonly AnyPlugin[]>;
  createClient(session: Session, url: string | undefined): Promise<Client>;
}

/** The terminal UI and the commands as clients of a service that runs elsewhere. */
export interface Client {
  readonly plugins: readonly AnyPlugin[];
  /** Throws a `Fault` where the service that runs on the home cannot be joined at all. */
  assertReachable(): void;
}

/** A command that works on the service as a whole. */
export interface OperatorCommand {
  readonly group: CommandGroup;
  readonly name: string;
  readonly about: string;
  readonly isHidden?: boolean;
  load(): Promise<(command: Command, line: CommandLine) => void>;
}

export interface CommandLine {
  readonly version: string;
  print(text: string): void;
  open(options?: SessionOptions): Promise<Session>;
  /** Returns what a plugin's command would have. `join` returns the plugins of a client, where there is a service to work through. */
  contextOf(
    session: Session,
    plugins: () => Promise<readonly AnyPlugin[]>,
    join?: (user: string | undefined) => Promise<readonly AnyPlugin[] | undefined>,
  ): Promise<CommandContext>;
  /** Returns the commands as they are for these words. */
  programFor(words: readonly string[]): Promise<Command>;
  shippedPlugins(): Promise<readonly AnyPlugin[]>;
  allPlugins(session: Session): Promise<readonly AnyPlugin[]>;
}

interface StartOptions {
  readonly thread?: string;
  readonly continue?: boolean;
}

/** In the order in which `--help` lists them. */
const HEADINGS = [
  ...(["Talk", "Tools", "People", "Keep", "Operate", "Advanced"] satisfies readonly CommandGroup[]),
  "Plugins",
].map((group) => `${group}:`);

const EXAMPLES = `
Examples:
  $ postern                     start every channel, with the terminal UI in front; join them if they run already
  $ postern --continue          the same, with the newest thread open
  $ postern --url https://…     join a service on another machine; its token is asked for, or in POSTERN_TOKEN
  $ postern serve               start every channel except the terminal UI
  $ postern --port 4000         the page and the API on another port
  $ postern serve --home ~/work a second service, with a home of its own
  $ MODEL_NAME=… postern        settings come from the environment or from .env
  $ postern config              the settings that are set and where they came from; --all shows every one
  $ postern doctor              check what could keep Postern from running well`;

export async function buildProgram(options: ProgramOptions): Promise<Command> {
  const { argv, home, url, version, isDescribed = false } = options;
  const { operatorCommands, shippedPlugins, createClient } = options;
  const joining = new Set<Command>();
  const program: Command = new Command("postern")
    .description("A self-hosted agent service whose tools are sandboxed WebAssembly components.")
    .version(version, "-V, --version")
    .option("--home <folder>", "the service home, instead of POSTERN_HOME; with any command")
    .option("--port <port>", PORT_ABOUT, parsePort)
    .option("--thread <id>", "continue this thread in the terminal UI; the beginning of its id is enough")
    .addOption(new Option("--continue", "continue the newest thread in the terminal UI").conflicts("thread"))
    .option(
      "--url <address>",
      "join the service at this address, with its token from POSTERN_TOKEN or a prompt; also with commands that use a running service",
    )
    .configureHelp({
      sortSubcommands: true,
      groupItems: (...items) =>
        new Map(
          [...new Help().groupItems(...items)].sort(
            ([one], [other]) => HEADINGS.indexOf(one) - HEADINGS.indexOf(other),
          ),
        ),
      // The list of all has names and what they are for: what each takes is not loaded for it.
      subcommandTerm: (command) =>
        command.parent === program ? command.name() : new Help().subcommandTerm(command),
      showGlobalOptions: true,
      visibleGlobalOptions: (command) =>
        command.parent === null
          ? []
          : program.options.filter(
              ({ long }) => long === "--home" || (long === "--url" && joining.has(groupOf(command))),
            ),
    })
    // An option belongs to the command it stands after: `mcp --user` and `mcp auth --user` are two.
    .enablePositionalOptions()
    .configureOutput({ writeOut: sayHelp, outputError: sayError })
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
    const { thread, continue: isNewest = false } = program.opts<StartOptions>();
    const resume: Resume | undefined = thread === undefined ? (isNewest ? "newest" : undefined) : { thread };
    const [session, { serve }, { join }, { waitForRunning }] = await Promise.all([
      open({ startsService: true, given: givenPort(port) }),
      import("./service/serve.ts"),
      import("./service/join.ts"),
      import("./service/home.ts"),
    ]);
    const why = whyNoTerminal(inFront);
    if (url !== undefined && why !== undefined)
      throw new CommanderError(2, "usage", `postern: --url needs the terminal UI: ${why}`);
    if (url !== undefined && port !== undefined)
      throw new CommanderError(
        2,
        "usage",
        "postern: --url joins a service, so --port has no meaning with it",
      );
    // With a port of its own it is meant to be another service.
    const joins = url !== undefined || (why === undefined && port === undefined);
    const isServed = joins && (url ?? (await waitForRunning(session.home))) !== undefined;
    const client = isServed ? (await createClient(session, url)).plugins : [];
    const leaveJoined = await takeScreen(client, session);
    if (leaveJoined) {
      process.exitCode = await join(session, client, { version, resume }).finally(leaveJoined);
      return;
    }
    const plugins = (await allPlugins(session)).map((plugin) =>
      plugin.ownsTerminal && why !== undefined ? turnedOff(plugin, why) : plugin,
    );
    const leave = await takeScreen(plugins, session);
    const screenTaken = leave !== undefined;
    if ((resume || url !== undefined) && !screenTaken)
      throw new CommanderError(2, "usage", "postern: --thread, --continue and --url need the terminal UI");
    process.exitCode = await serve(session, plugins, { version, screenTaken, resume }).finally(leave);
  };
  // If the program had an action, commander would take a mistyped command for an argument and suggest nothing.
  if (asked === undefined) program.action(() => start(true));

  program
    .command("serve")
    .helpGroup("Operate:")
    .description("start every enabled channel except the terminal UI")
    .option("--port <port>", PORT_ABOUT, parsePort)
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern serve --port 4000\n  $ HTTP_ENABLED=true HTTP_WEBHOOK_SECRET=… postern serve",
    )
    .action(({ port }: PortOption) => start(false, port));

  const describesAll = asked === "help";
  const contextOf = async (...[session, plugins, join]: Parameters<CommandLine["contextOf"]>) => {
    const { createCommandContext } = await import("./command-context.ts");
    return createCommandContext(session, plugins, version, join);
  };
  /** Where no service runs, or one that cannot be joined, commands work on the store of the home. */
  const joinFor = (session: Session) => async (user: string | undefined) => {
    const isOthers = user !== undefined && user !== OPERATOR;
    if (url !== undefined && isOthers)
      throw new CommanderError(2, "usage", "postern: with --url you see what is yours: leave --user out");
    if (url !== undefined) return (await createClient(session, url)).plugins;
    const { waitForRunning } = await import("./service/home.ts");
    if (isOthers || (await waitForRunning(session.home)) === undefined) return undefined;
    const { plugins, assertReachable } = await createClient(session, undefined);
    try {
      assertReachable();
      return plugins;
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  };
  const programFor = (words: readonly string[]) =>
    buildProgram({ ...options, argv: words, isDescribed: true });
  for (const { group, name, about, isHidden = false, load } of operatorCommands) {
    const command = program.command(name, { hidden: isHidden }).helpGroup(`${group}:`).description(about);
    if (!describesAll && name !== asked) continue;
    const register = await load();
    register(command, {
      version,
      print: sayPainted,
      open,
      contextOf,
      programFor,
      shippedPlugins,
      allPlugins,
    });
  }

  const isOwn = program.commands.some((command) => command.name() === asked);
  const listsAll = describesAll || (asked === undefined && (argv.includes("--help") || argv.includes("-h")));
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
  if (url !== undefined && !isDescribed && asked !== undefined) {
    const joined = [...joining].map((command) => command.name());
    if (!joined.includes(asked))
      throw new CommanderError(2, "usage", `postern: --url does not go with ${asked}`);
  }
  for (const command of [
    program,
    ...program.commands,
    ...program.commands.flatMap((group) => group.commands),
  ])
    command.exitOverride().showHelpAfterError("(add --help to see how to use it)");
  return program;

  async function addCommand(
    parent: Command,
    offered: PluginCommand,
    isShipped: boolean,
    isWanted: boolean,
  ): Promise<void> {
    const {
      name,
      group,
      about,
      example,
      startsService = false,
      everyPlugin = startsService,
      joins = false,
    } = offered;
    const command = sharedCommand(parent, name, about) ?? parent.command(name).description(about);
    command.helpGroup(`${(isShipped && group) || "Plugins"}:`);
    if (joins) joining.add(command);
    if (example !== undefined) command.addHelpText("after", `\nExample:\n  $ ${example}`);
    // `help` and the manual describe every command; anything else loads only the one that was typed.
    if (!isWanted) return;
    const [session, register] = await Promise.all([
      open({ startsService: startsService && !listsAll }),
      offered.load(),
    ]);
    // A command that only looks at tools, jobs or people needs our plugins alone, and runs nobody else's code.
    const plugins = isShipped && !everyPlugin ? shippedPlugins : () => allPlugins(session);
    register(command, await contextOf(session, plugins, joins ? joinFor(session) : undefined));
  }
}

function groupOf(command: Command): Command {
  return command.parent?.parent ? groupOf(command.parent) : command;
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
      if (taken.has(command.name)) {
        const message = `PLUGINS: plugin "${plugin}" adds the command "${command.name}", which exists already: rename it, or remove the plugin from PLUGINS`;
        throw new Fault("config", "bad_plugin", message, { param: "PLUGINS" });
      }
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

/** Returns how to give the terminal back; undefined where no plugin takes it. */
async function takeScreen(plugins: readonly AnyPlugin[], { settings }: Session) {
  const owner = plugins.find(
    (plugin) => plugin.ownsTerminal && !(plugin.configure(settings.for(plugin.name)) instanceof Off),
  );
  return owner && ((await owner.preview?.()) ?? (() => {}));
}

function whyNoTerminal(inFront: boolean): string | undefined {
  if (!inFront) return '"postern serve" runs without it';
  return process.stdin.isTTY && process.stdout.isTTY
    ? undefined
    : 'there is no terminal; use "postern serve" instead';
}
