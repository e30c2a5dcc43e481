/** The composition root and the command line: the only file that knows everyone. Heavy modules load when asked for. */
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { Fault, reason } from "../fault.ts";
import { type AnyPlugin, Off } from "../plugin.ts";
import type { Session } from "./session.ts";
import type { Workbench } from "./workbench.ts";

const PACKAGE = new URL(
  import.meta.url.endsWith(".ts") ? "../../package.json" : "../../../package.json",
  import.meta.url,
);
const VERSION = (JSON.parse(readFileSync(PACKAGE, "utf8")) as { version: string }).version;

/** Every plugin Postern ships, in the order of the start-up table. */
async function shippedPlugins(): Promise<readonly AnyPlugin[]> {
  const modules = await Promise.all([
    import("../store/store.ts"),
    import("../../host/plugin.ts"),
    import("../../plugins/agent/plugin.ts"),
    // Before the other channels: a person waits for the first frame, and the screen fills in who comes later.
    import("../../plugins/tui/plugin.ts"),
    import("../../plugins/gateway/plugin.ts"),
    import("../../plugins/responses/plugin.ts"),
    import("../../plugins/webhook/plugin.ts"),
  ]);
  return modules.map((module) => module.default as AnyPlugin);
}

interface Group {
  readonly about: string;
  /** For a group that shows none of its own. */
  readonly example?: string;
  load(): Promise<{ register(group: Command, workbench: Workbench): void }>;
}

/** Commands that belong to a plugin; their code is read when one of them is typed. */
const GROUPS: Readonly<Record<string, Group>> = {
  tool: {
    about: "write, install, inspect, run and remove tools",
    load: () => import("../../host/commands/tool.ts"),
  },
  ask: {
    about: "ask one question and print the answer",
    load: () => import("../../plugins/agent/ask.ts"),
  },
  jobs: {
    about: "list, show and cancel jobs",
    example: "postern jobs list --status running",
    load: () => import("../../plugins/agent/jobs/commands.ts"),
  },
  user: {
    about: "add and list the people who may use this Postern",
    example: "postern user add ann",
    load: async () => ({ register: (await import("../../plugins/gateway/auth/commands.ts")).registerUser }),
  },
  token: {
    about: "make, list and revoke people's tokens",
    example: "postern token create ann --name laptop",
    load: async () => ({ register: (await import("../../plugins/gateway/auth/commands.ts")).registerToken }),
  },
};

async function allPlugins(session: Session): Promise<readonly AnyPlugin[]> {
  const { loadPlugins } = await import("./loader.ts");
  const [shipped, others] = await Promise.all([
    shippedPlugins(),
    loadPlugins(session.plugins, session.folder),
  ]);
  return [...shipped, ...others];
}

/** The same plugin, kept off by the command that was typed; its settings are still read and checked. */
function keepOff(plugin: AnyPlugin, why: string): AnyPlugin {
  return {
    ...plugin,
    configure: (env) => {
      const config = plugin.configure(env);
      return config instanceof Off ? config : new Off(why);
    },
  };
}

async function start(front: boolean): Promise<void> {
  const [{ openSession }, { serve }] = await Promise.all([import("./session.ts"), import("./serve.ts")]);
  const session = openSession();
  const whyNoScreen = !front
    ? '"postern serve" runs without it'
    : process.stdin.isTTY && process.stdout.isTTY
      ? undefined
      : 'no terminal here; "postern serve" is meant for that';
  const plugins = (await allPlugins(session)).map((plugin) =>
    plugin.name === "tui" && whyNoScreen ? keepOff(plugin, whyNoScreen) : plugin,
  );
  const tui = plugins.find(({ name }) => name === "tui");
  const screenTaken = tui !== undefined && !(tui.configure(session.settings.for("tui")) instanceof Off);
  process.exitCode = await serve(session, plugins, { version: VERSION, screenTaken });
}

async function commandLine(argv: readonly string[]): Promise<Command> {
  const program = new Command("postern")
    .description("A self-hosted agent service whose tools are sandboxed WebAssembly components.")
    .version(VERSION, "-V, --version")
    .configureHelp({ sortSubcommands: true })
    .addHelpText(
      "after",
      `
Examples:
  $ postern                     start every channel, with the terminal UI in front
  $ postern serve               start every channel but the terminal UI
  $ GATEWAY_PORT=4000 postern   settings come from the environment or from .env
  $ postern config              every setting in force, and where it came from
  $ postern doctor              what would keep Postern from running well`,
    );
  const asked = argv.find((word) => !word.startsWith("-"));
  // With an action of its own commander would take a mistyped command for an argument and suggest nothing.
  if (asked === undefined) program.action(() => start(true));

  program
    .command("serve")
    .description("start every enabled channel except the terminal UI")
    .addHelpText("after", "\nExample:\n  $ HTTP_ENABLED=true HTTP_WEBHOOK_SECRET=… postern serve")
    .action(() => start(false));

  program
    .command("config")
    .description("show every setting in force and where it came from, secrets masked")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern config\n  $ postern config --json | jq '.settings[] | select(.source != \"default\")'",
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const [{ openSession }, { showConfig }] = await Promise.all([
        import("./session.ts"),
        import("./commands/config.ts"),
      ]);
      const session = openSession();
      showConfig(session, await allPlugins(session), json);
    });

  program
    .command("doctor")
    .description("look at everything a start needs and say what to do; changes nothing")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern doctor")
    .action(async ({ json = false }: { json?: boolean }) => {
      const [{ openSession }, doctor] = await Promise.all([
        import("./session.ts"),
        import("./commands/doctor.ts"),
      ]);
      const session = openSession();
      doctor.printFindings(await doctor.examine(session, await allPlugins(session)), json);
    });

  program
    .command("status")
    .description("say whether Postern runs, since when, and with which channels")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern status && echo up")
    .action(async ({ json = false }: { json?: boolean }) => {
      const [{ openSession }, { showStatus }] = await Promise.all([
        import("./session.ts"),
        import("./commands/status.ts"),
      ]);
      showStatus(openSession().home, json);
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
        throw new CommanderError(2, "usage", `postern completion knows ${SHELLS.join(", ")}, not "${shell}"`);
      process.stdout.write(completionScript(program, known));
    });

  for (const [name, { about, example, load }] of Object.entries(GROUPS)) {
    const group = program.command(name).description(about);
    if (example !== undefined) group.addHelpText("after", `\nExample:\n  $ ${example}`);
    // Completion describes every command; anything else reads only the group that was typed.
    if (asked !== name && asked !== "completion" && asked !== "help") continue;
    const [{ openSession }, { createWorkbench }, { register }] = await Promise.all([
      import("./session.ts"),
      import("./workbench.ts"),
      load(),
    ]);
    const session = openSession();
    register(
      group,
      createWorkbench(session, () => allPlugins(session), VERSION),
    );
  }
  return program;
}

/** Exit codes: 0 done, 1 failed, 2 wrong usage, 78 bad configuration. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    const program = await commandLine(argv);
    for (const command of [
      program,
      ...program.commands,
      ...program.commands.flatMap((group) => group.commands),
    ]) {
      command.exitOverride().showHelpAfterError("(add --help for the ways to use it)");
    }
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.code === "usage") process.stderr.write(`${error.message}\n`);
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else if (error instanceof Fault) {
      process.stderr.write(`postern: ${error.message}\n`);
      process.exitCode = error.kind === "config" ? 78 : 1;
    } else {
      process.stderr.write(
        `postern: this is a bug: ${error instanceof Error ? error.stack : reason(error)}\n`,
      );
      process.exitCode = 1;
    }
  }
}
