/** `postern destination add|list|remove`: where calls may go although the user did not name it. */
import type { Command } from "commander";
import { relativeTime, say, sayJson, table } from "../../../kernel/kit/terminal.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { TrustedDestination } from "../services.ts";

interface Options {
  readonly tool?: string;
  readonly user?: string;
  readonly json?: boolean;
}

export function register(group: Command, context: CommandContext): void {
  group.addHelpText(
    "after",
    `
A call that goes to an address, an account or a host which the user did not name waits for an answer. A destination in
this list is not asked about; what is sent there still is. A host stands for every link to it. Rules that a user set
with an answer ("up to 20 EUR a day") are in the list, too, and are removed by these words.`,
  );

  verb("add", "trust a destination", "postern destination add reports@example.com --tool send_email")
    .argument("<destination>", "an address, an account number, a link or a host")
    .action((value: string, { json = false, ...scope }: Options) =>
      context.with(["destinations"], async ({ destinations }) => {
        const added = await destinations.add({ value, ...scope });
        const words = added ? "may go to" : "could already go to";
        if (json) sayJson({ destination: value, ...wire(scope), added });
        else say(`${capital(callsOf(scope))} ${words} ${visibleLine(value)} without being asked about it.\n`);
      }),
    );

  verb("list", "list trusted destinations", "postern destination list --user ana").action(
    ({ json = false, user, tool }: Options) =>
      context.with(["destinations"], async ({ destinations }) => {
        const listed = await destinations.list(user);
        const items = tool === undefined ? listed : listed.filter((one) => one.tool === tool);
        if (json)
          sayJson({
            destinations: items.map(({ value, addedAt, rule, ...scope }) => ({
              destination: value,
              ...wire(scope),
              ...(rule && { rule }),
              added_at: addedAt,
            })),
          });
        else if (items.length === 0) say('None. "postern destination add --help" says how to add one.\n');
        else say(table(["DESTINATION", "TOOL", "USER", "SINCE"], items.map(row)));
      }),
  );

  verb(
    "remove",
    "ask about a destination again",
    "postern destination remove reports@example.com --tool send_email",
  )
    .argument("<destination>")
    .action((value: string, { json = false, ...scope }: Options) =>
      context.with(["destinations"], async ({ destinations }) => {
        if (!(await destinations.remove({ value, ...scope })))
          throw new Fault(
            "missing",
            "no_such_destination",
            `${visibleLine(value)} is not trusted for ${callsOf(scope)}; "postern destination list" shows all with their tool and user`,
            { param: "destination" },
          );
        if (json) sayJson({ destination: value, ...wire(scope), removed: true });
        else say(`${capital(callsOf(scope))} to ${visibleLine(value)} are asked about again.\n`);
      }),
    );

  function verb(name: string, about: string, example: string): Command {
    return group
      .command(name)
      .description(about)
      .option("--tool <name>", "only for calls of this tool")
      .option("--user <user_id>", "only for this user")
      .option("--json", "print JSON")
      .addHelpText("after", `\nExample:\n  $ ${example}`);
  }
}

function callsOf({ tool, user }: Options): string {
  const whose = user === undefined ? "" : ` for ${visibleLine(user)}`;
  return `${tool === undefined ? "all calls" : `calls of ${visibleLine(tool)}`}${whose}`;
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

function wire({ tool, user }: Pick<TrustedDestination, "tool" | "user">): object {
  return { tool: tool ?? null, user_id: user ?? null };
}

function row({ value, tool = "any", user = "everybody", addedAt }: TrustedDestination): string[] {
  return [value, tool, user, relativeTime(addedAt)];
}
