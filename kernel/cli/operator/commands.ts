/** The operator's commands. Other plugins bring their own; the code of each is loaded when it is typed. */
import type { OperatorCommand } from "../program.ts";
import type { OperatorContext, StoreAccess } from "./context.ts";

interface CommandModule {
  register(
    command: Parameters<Awaited<ReturnType<OperatorCommand["load"]>>>[0],
    context: OperatorContext,
  ): void;
}

export function operatorCommands(store: () => Promise<StoreAccess>): readonly OperatorCommand[] {
  const command = (name: string, about: string, load: () => Promise<CommandModule>): OperatorCommand => ({
    name,
    about,
    async load() {
      const { register } = await load();
      return (built, line) => register(built, { ...line, store });
    },
  });
  return [
    command(
      "config",
      "show the settings that are set, or all, and where each came from, with secrets hidden; change some",
      () => import("./config.ts"),
    ),
    command(
      "doctor",
      "check everything a start needs and say what to do; changes nothing without --fix",
      () => import("./doctor.ts"),
    ),
    command(
      "plugin",
      "list plugins, look at one before it is started, or make a project for a channel of your own",
      () => import("./plugins.ts"),
    ),
    command(
      "status",
      "show whether Postern is running, with which channels, and the nodes of its store",
      () => import("./status.ts"),
    ),
    command(
      "logs",
      "show the newest lines of this home's log, also after the service has ended",
      () => import("./logs.ts"),
    ),
    command(
      "stop",
      "stop the service that runs with this home, and wait until it has ended",
      () => import("./stop.ts"),
    ),
    command(
      "upgrade",
      "say how to upgrade, and check the store, the backup and the disk first; changes nothing",
      () => import("./upgrade.ts"),
    ),
    command("man", "show the manual; piped, print it for man -l", () => import("./man.ts")),
    {
      ...command(
        "complete",
        "print what may follow these words, for the shells",
        () => import("./complete.ts"),
      ),
      isHidden: true,
    },
    command(
      "completion",
      "print a script that completes commands, options and names in your shell",
      () => import("./completion.ts"),
    ),
  ];
}
