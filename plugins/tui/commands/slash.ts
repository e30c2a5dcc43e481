/** Slash commands typed into the composer. Each shows its result as a note in the history pane. */
import { quoted } from "../text/markdown.ts";
import type { Commands, CompletionParts, SlashParts } from "./command.ts";
import { LISTS } from "./lists.ts";
import { THREAD_COMMANDS } from "./thread.ts";
import { WORKSPACE_COMMANDS } from "./workspace.ts";

const KEYS = `| key | |
|---|---|
| Enter | send the message |
| Shift+Enter, Alt+Enter, Ctrl+J | new line |
| Up, Down | scroll; in a multi-line draft, move a line; Up takes back a message that was not read yet |
| wheel, Shift+Up, Shift+Down | scroll |
| Ctrl+P, Ctrl+N | earlier, later message |
| PgUp, PgDn | scroll by a page |
| Tab, Shift+Tab | next, previous tool call or approval; Enter opens it |
| Esc | cancel the turn, or go back; twice: clear the draft |
| Ctrl+L | clear the screen |
| Ctrl+C | quit; while a turn runs or a draft stands, first stop the turn or clear the draft |
| @file | in a message: attaches that file, of this machine or of the workspace; Tab completes it |`;

const COMMANDS: Commands = {
  help: {
    about: "show keys and commands",
    run: () => {
      const rows = Object.entries(COMMANDS).map(
        ([name, { about, takes }]) =>
          `| /${name}${takes === undefined ? "" : ` ${quoted(takes)}`} | ${about} |`,
      );
      return `${KEYS}\n\n| command | |\n|---|---|\n${rows.join("\n")}`;
    },
  },
  ...THREAD_COMMANDS,
  ...LISTS,
  ...WORKSPACE_COMMANDS,
  status: {
    about: "show what runs here: the version, the plugins and their addresses",
    run: ({ describeService }) => describeService(),
  },
  cancel: {
    about: "cancel the running turn",
    run: ({ conversation }) => (conversation.cancel() ? undefined : "Nothing is running."),
  },
  quit: {
    about: "quit; a service that this terminal joined keeps running",
    run: ({ quit }) => {
      quit();
      return undefined;
    },
  },
};

/** Returns the commands that start with what was typed; empty if it is not a command. */
function commandsFor(text: string): readonly string[] {
  const [, typed] = /^\/(\S*)$/.exec(text) ?? [];
  return typed === undefined ? [] : Object.keys(COMMANDS).filter((name) => name.startsWith(typed));
}

export interface Suggestion {
  /** The line as it would be. */
  readonly line: string;
  readonly about: string;
}

/** What a line that begins with a slash could become: a command, or one with an argument. */
export function suggest(text: string, parts: CompletionParts): readonly Suggestion[] {
  const names = commandsFor(text);
  if (names.length > 0)
    return names.map((name) => ({ line: `/${name}`, about: COMMANDS[name]?.about ?? "" }));
  const [, command = "", rest = ""] = /^\/(\S+) +(.*)$/.exec(text) ?? [];
  const found = COMMANDS[command]?.complete?.(rest, parts) ?? [];
  return found.map((each) => ({ line: `/${command} ${each}`, about: "" }));
}

/** Completes a command or its argument; undefined if there is nothing to complete. */
export function complete(text: string, parts: CompletionParts): string | undefined {
  const [first] = suggest(text, parts);
  return first === undefined || first.line === text ? undefined : first.line;
}

/** Runs a command and shows its result. An unambiguous prefix is enough. */
export async function runSlash(line: string, parts: SlashParts): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const matching = commandsFor(`/${name}`);
  parts.conversation.echo(line);
  const command = COMMANDS[name] ?? (matching.length === 1 ? COMMANDS[matching[0] ?? ""] : undefined);
  if (!command) {
    const which = matching.length > 1 ? ` It could be ${matching.map((each) => `/${each}`).join(", ")}.` : "";
    parts.conversation.note(`Unknown command: /${quoted(name)}.${which} /help lists the commands.`, "bad");
    return;
  }
  const note = await command.run(parts, rest.trim());
  if (note !== undefined) parts.conversation.note(note);
}
