/** Slash commands typed into the composer. Each shows its result as a note in the history pane. */
import { quoted } from "../text/markdown.ts";
import type { Commands, CompletionParts, SlashParts } from "./command.ts";
import { LISTS } from "./lists.ts";
import { THREAD_COMMANDS } from "./thread.ts";

const KEYS = `| key | |
|---|---|
| Enter | send the message |
| Shift+Enter, Alt+Enter, Ctrl+J | new line |
| Up, Down | scroll; in a multi-line draft, move a line |
| wheel, Shift+Up, Shift+Down | scroll |
| Ctrl+P, Ctrl+N | earlier, later message |
| PgUp, PgDn | scroll by a page |
| Tab, Shift+Tab | next, previous tool call or approval; Enter opens it |
| Esc | cancel the turn, or go back; twice: clear the draft |
| Ctrl+L | clear the screen |
| Ctrl+C | quit |
| @file | in a message: attaches that file; Tab completes it |`;

export const COMMANDS: Commands = {
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
  cancel: {
    about: "cancel the running turn",
    run: ({ conversation }) => (conversation.cancel() ? undefined : "Nothing is running."),
  },
  quit: {
    about: "quit Postern",
    run: ({ quit }) => {
      quit();
      return undefined;
    },
  },
};

/** Returns the commands that start with what was typed; empty if it is not a command. */
export function completions(text: string): readonly string[] {
  const [, typed] = /^\/(\S*)$/.exec(text) ?? [];
  return typed === undefined ? [] : Object.keys(COMMANDS).filter((name) => name.startsWith(typed));
}

/** Completes a command or its argument; undefined if there is nothing to complete. */
export function complete(text: string, parts: CompletionParts): string | undefined {
  const [name] = completions(text);
  if (name !== undefined) return text === `/${name}` ? undefined : `/${name}`;
  const [, command = "", rest = ""] = /^\/(\S+) +(.*)$/.exec(text) ?? [];
  const [first] = COMMANDS[command]?.complete?.(rest, parts) ?? [];
  return first === undefined || first === rest ? undefined : `/${command} ${first}`;
}

/** Runs a command and shows its result. An unambiguous prefix is enough. */
export async function runSlash(line: string, parts: SlashParts): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const matching = completions(`/${name}`);
  const command = COMMANDS[name] ?? (matching.length === 1 ? COMMANDS[matching[0] ?? ""] : undefined);
  if (!command) {
    const which = matching.length > 1 ? ` It could be ${matching.map((each) => `/${each}`).join(", ")}.` : "";
    parts.conversation.note(`Unknown command: /${quoted(name)}.${which} /help lists the commands.`, "bad");
    return;
  }
  const note = await command.run(parts, rest.trim());
  if (note !== undefined) parts.conversation.note(note);
}
