/** `postern complete -- words…`: what may come next, for the shells. Starts nothing, writes nothing, and is quiet about errors. */
import type { Command, Option } from "commander";
import type { AnyPlugin, Named } from "../../plugin.ts";
import { sayPainted } from "../../terminal/output.ts";
import { visibleLine } from "../../text/visible.ts";
import { OPERATOR } from "../../vocabulary/user.ts";
import type { Session } from "../service/session.ts";
import { SHELLS } from "./completion.ts";
import type { OperatorContext } from "./context.ts";

export function register(command: Command, context: OperatorContext): void {
  command
    .argument("[words...]")
    .addHelpText("after", "\nExample:\n  $ postern complete -- tool info ''")
    // Nobody wants to read an error while typing.
    .action((words: readonly string[]) => complete(words, context).catch(() => {}));
}

/** A person waits with a finger on the key: what the store has not said by then is left out. */
const MAX_MS = 400;
const MAX_ABOUT_LENGTH = 60;

/** Maps an argument of a command, or an option of any, to a kind of names. */
const KINDS: Readonly<Record<string, string>> = {
  "tool name": "tool",
  "mcp name": "server",
  "thread thread_id": "thread",
  "thread binned_id": "binned",
  "memory path": "memory",
  "workspace path": "workspace",
  "workspace folder": "workspace",
  "jobs job_id": "job",
  "user id": "user",
  "user account": "user",
  "token user": "user",
  "token token-id": "token",
  "config name": "setting",
  "config name[=value]": "setting",
  "completion shell": "shell",
  "--user": "user",
  "--tool": "tool",
  "--thread": "thread",
};

async function complete(words: readonly string[], context: OperatorContext): Promise<void> {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const program = await context.programFor(typed);
  const { command, kind, choices, user } = readWords(program, typed, current);
  const offers: Named[] = [];
  if (choices !== undefined) offers.push(...choices.map((name) => ({ name })));
  else if (kind !== undefined) offers.push(...(await namesOf(kind, user, context)));
  else if (current.startsWith("-")) offers.push(...optionsOf(command, program));
  else for (const sub of command.createHelp().visibleCommands(command)) offers.push(offerOf(sub));
  const lines = offers
    .filter(({ name }) => name.startsWith(current))
    .map(({ name, about = "" }) => `${visibleLine(name)}\t${clip(visibleLine(about))}\n`);
  sayPainted(lines.join(""));
}

interface CompletionSlot {
  readonly command: Command;
  /** The kind of names that fits here. */
  readonly kind: string | undefined;
  /** The only values that are accepted here. */
  readonly choices?: readonly string[] | undefined;
  /** Names are listed as this user sees them. */
  readonly user: string;
}

/** Walks what was typed: commands, their options with values, and how many arguments there are already. */
function readWords(program: Command, typed: readonly string[], current: string): CompletionSlot {
  let command = program;
  let taken = 0;
  let user: string = OPERATOR;
  let awaits: Option | undefined;
  for (const word of typed) {
    if (awaits !== undefined) {
      if (awaits.long === "--user") user = word;
      awaits = undefined;
    } else if (word.startsWith("-")) {
      const option = [...command.options, ...program.options].find(
        ({ long, short }) => long === word || short === word,
      );
      if (option?.required) awaits = option;
    } else {
      const next = command.commands.find((sub) => sub.name() === word);
      if (next !== undefined && taken === 0) command = next;
      else taken++;
    }
  }
  if (awaits !== undefined)
    return { command, kind: KINDS[awaits.long ?? ""] ?? "nothing", choices: awaits.argChoices, user };
  if (current.startsWith("-") || (command.commands.length > 0 && taken === 0))
    return { command, kind: undefined, user };
  const group = command.parent === program ? command : (command.parent ?? command);
  const given = command.registeredArguments;
  const argument = given[Math.min(taken, given.length - 1)];
  const isTaken = argument === undefined || (taken >= given.length && !argument.variadic);
  // A thing that is being added has no name yet.
  const isNew = command.name() === "add";
  const kind = isTaken || isNew ? undefined : KINDS[`${group.name()} ${argument.name()}`];
  return { command, kind: kind ?? "nothing", user };
}

async function namesOf(kind: string, user: string, context: OperatorContext): Promise<readonly Named[]> {
  if (kind === "nothing") return [];
  if (kind === "shell") return SHELLS.map((name) => ({ name }));
  const [session, plugins] = await Promise.all([context.open(), context.shippedPlugins()]);
  if (kind === "setting") return settingsOf(session, plugins);
  const read = plugins.flatMap(({ operations }) => operations?.names?.[kind] ?? []);
  // Loading our own code does not count.
  const store = await context.store();
  const { promise: tooLate, resolve } = Promise.withResolvers<readonly Named[]>();
  const timer = setTimeout(() => resolve([]), MAX_MS);
  const { home, settings } = session;
  const look = async (): Promise<readonly Named[]> => {
    const { rows, keyed, close } = await store.look(settings.for("store"), home);
    const found = await Promise.all(read.map((names) => names({ home, user, rows, keyed })));
    await close();
    return found.flat();
  };
  try {
    return await Promise.race([look().catch(() => []), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function settingsOf({ settings }: Session, plugins: readonly AnyPlugin[]): readonly Named[] {
  // Reading a setting is what declares it.
  for (const plugin of plugins) plugin.configure(settings.for(plugin.name));
  return settings.declared.map(({ name, about }) => ({ name, about }));
}

function optionsOf(command: Command, program: Command): readonly Named[] {
  const all = [...command.createHelp().visibleOptions(command), ...program.options];
  const offers = all.flatMap(({ long, description }) =>
    typeof long === "string" && (command === program || long !== "--port" || command.name() === "serve")
      ? [{ name: long, about: description }]
      : [],
  );
  return [...new Map(offers.map((offer) => [offer.name, offer])).values()];
}

function offerOf(command: Command): Named {
  return { name: command.name(), about: command.description() };
}

function clip(text: string): string {
  return text.length <= MAX_ABOUT_LENGTH ? text : `${text.slice(0, MAX_ABOUT_LENGTH - 1)}…`;
}
