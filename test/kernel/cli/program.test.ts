import { expect, test, vi } from "vitest";
import { buildProgram } from "../../../kernel/cli/program.ts";
import { type AnyPlugin, Off, type PluginCommand } from "../../../kernel/plugin.ts";
import { temporaryFolder } from "../../support/home.ts";

const bringing = (name: string, command: PluginCommand): AnyPlugin => ({
  name,
  configure: () => new Off("not needed here"),
  start() {},
  operations: {
    commands: [command],
  },
});

test("two plugins of ours add to one command: one its action, the other a subcommand", async () => {
  vi.stubEnv("POSTERN_HOME", temporaryFolder());
  const ran: string[] = [];
  const plugins = [
    bringing("doors", {
      name: "door",
      about: "list doors",
      example: "postern door list",
      load: async () => (command) => {
        command
          .command("list")
          .option("--user <id>")
          .action(({ user }: { user?: string }) => void ran.push(`list ${user}`));
      },
    }),
    bringing("opener", {
      name: "door",
      about: "open one",
      load: async () => (command) => {
        command.option("--user <id>").action(({ user }: { user?: string }) => void ran.push(`open ${user}`));
      },
    }),
  ];
  const run = async (argv: readonly string[]) => {
    const program = await buildProgram({
      argv,
      version: "0.0.0",
      shippedPlugins: async () => plugins,
      operatorCommands: [],
      createClient: async () => ({ plugins: [], assertReachable: () => {} }),
    });
    await program.parseAsync(argv, { from: "user" });
    return program;
  };

  await run(["door", "list", "--user", "ann"]);
  const program = await run(["door", "--user", "bob"]);

  expect(ran).toEqual(["list ann", "open bob"]);
  expect(program.commands.filter((command) => command.name() === "door")).toHaveLength(1);
  expect(program.helpInformation()).toContain("list doors; open one");
});
