/** The operator's commands. Other plugins bring their own; the code of each is loaded when it is typed. */
import type { CommandGroup } from "../../plugin.ts";
import type { OperatorCommand } from "../program.ts";
import type { OperatorContext, StoreAccess } from "./context.ts";

interface CommandModule {
  register(
    command: Parameters<Awaited<ReturnType<OperatorCommand["load"]>>>[0],
    context: OperatorContext,
  ): void;
}

export function operatorCommands(store: () => Promise<StoreAccess>): readonly OperatorCommand[] {
  const command = (
    group: CommandGroup,
    name: string,
    about: string,
    load: () => Promise<CommandModule>,
  ): OperatorCommand => ({
    group,
    name,
    about,
    async load() {
      const { register } = await load();
      return (built, line) => register(built, { ...line, store });
    },
  });
  return [
    command(
      "Operate",
      "config",
      "show the settings that are set, or all, and where each came from, with secrets hidden; change some",
      () => import("./config.ts"),
    ),
    command(
      "Operate",
      "doctor",
      "check everything a start needs and say what to do; changes nothing without --fix",
      () => import("./doctor.ts"),
    ),
    command(
      "Advanced",
      "plugin",
      "list plugins, look at one before it is started, or make a project for a channel of your own",
      () => import("./plugins.ts"),
    ),
    command(
      "Operate",
      "status",
      "show whether Postern is running, with which channels, and the nodes of its store",
      () => import("./status.ts"),
    ),
    command(
      "Operate",
      "logs",
      "show the newest lines of this home's log, also after the service has ended",
      () => import("./logs.ts"),
    ),
    command(
      "Operate",
      "stop",
      "stop the service that runs with this home, and wait until it has ended",
      () => import("./stop.ts"),
    ),
    command(
      "Operate",
      "upgrade",
      "say how to upgrade, and check the store, the backup and the disk first; changes nothing",
      () => import("./upgrade.ts"),
    ),
    command("Advanced", "man", "show the manual; piped, print it for man -l", () => import("./man.ts")),
    {
      ...command(
        "Advanced",
        "complete",
        "print what may follow these words, for the shells",
        () => import("./complete.ts"),
      ),
      isHidden: true,
    },
    command(
      "Advanced",
      "completion",
      "print a script that completes commands, options and names in your shell",
      () => import("./completion.ts"),
    ),
  ];
}
