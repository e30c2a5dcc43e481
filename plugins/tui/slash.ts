/** Slash commands typed into the composer. Each shows its result as a note in the history pane. */
import type { Agent, Jobs, Memory, Threads, Tools } from "../../kernel/plugin.ts";
import type { Conversation } from "./conversation.ts";
import { quoted } from "./screen/markdown.ts";

export interface SlashParts {
  readonly user: string;
  readonly conversation: Conversation;
  readonly agent: Agent;
  readonly threads: Threads;
  readonly tools: Tools | undefined;
  readonly jobs: Jobs | undefined;
  readonly memory: Memory | undefined;
  quit(): void;
}

interface SlashCommand {
  readonly about: string;
  /** Returns the note to show, in Markdown. */
  run(parts: SlashParts, rest: string): string | undefined | Promise<string | undefined>;
}

const KEYS = `| key | |
|---|---|
| Enter | send the message |
| Shift+Enter, Alt+Enter, Ctrl+J | new line |
| Up, Down | scroll; in a multi-line draft, move a line |
| Ctrl+P, Ctrl+N | earlier, later message |
| PgUp, PgDn | scroll by a page |
| Tab, Shift+Tab | next, previous tool call or approval; Enter opens it |
| Esc | cancel the turn, or go back; twice: clear the draft |
| Ctrl+L | clear the screen |
| Ctrl+C | quit |`;

const LISTED = 15;

export const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: {
    about: "show keys and commands",
    run: () => {
      const rows = Object.entries(COMMANDS).map(([name, { about }]) => `| /${name} | ${about} |`);
      return `${KEYS}\n\n| command | |\n|---|---|\n${rows.join("\n")}`;
    },
  },
  new: {
    about: "start a new thread",
    async run({ conversation }) {
      await conversation.open(undefined);
      return "*New thread. Your next message starts it.*";
    },
  },
  threads: {
    about: "list threads; /threads 2 opens the second, /threads <words> searches",
    async run({ threads, user, conversation }, rest) {
      const number = /^\d+$/.test(rest) ? Number(rest) : undefined;
      const query = number === undefined && rest !== "" ? { q: rest } : {};
      const { items } = await threads.list(user, { limit: LISTED, ...query });
      if (number !== undefined) {
        const chosen = items[number - 1];
        if (!chosen) return `There is no thread ${number}. /threads lists them.`;
        await conversation.open(chosen.id);
        return undefined;
      }
      if (items.length === 0) return rest === "" ? "No threads yet." : "No matching threads.";
      const lines = items.map(
        ({ title, updatedAt, turns }, index) =>
          `${index + 1}. ${quoted(title)} — ${ago(updatedAt)}, ${turns} turn${turns === 1 ? "" : "s"}`,
      );
      return `${lines.join("\n")}\n\n*/threads 1 opens the first.*`;
    },
  },
  tools: {
    about: "list installed tools and what they may do",
    async run({ tools }) {
      const installed = (await tools?.list()) ?? [];
      if (installed.length === 0)
        return "No tools are installed. Install one with `postern tool install` in another terminal.";
      return installed
        .map(
          ({ name, version, description, grants, switchedOff }) =>
            `- **${quoted(name)}** ${quoted(version)}${switchedOff ? " (switched off)" : ""}: ${quoted(description)}\n${grants.map((grant) => `  - ${verbatim(grant)}`).join("\n")}`,
        )
        .join("\n");
    },
  },
  jobs: {
    about: "list the newest webhook jobs",
    async run({ jobs }) {
      const { items = [] } = (await jobs?.list({ limit: LISTED })) ?? {};
      if (items.length === 0) return "No jobs.";
      return items
        .map(
          ({ id, user, status, createdAt, error }) =>
            `- \`${id}\` ${status}${error ? ` (${quoted(error.code)})` : ""}, ${quoted(user)}, ${ago(createdAt)}`,
        )
        .join("\n");
    },
  },
  memory: {
    about: "list memory files; /memory <words> searches",
    async run({ memory, user }, rest) {
      if (!memory) return "Memory is off.";
      if (rest !== "") {
        const hits = await memory.search(user, rest, LISTED);
        return hits.length === 0
          ? "No matches in memory."
          : hits.map(({ path, snippet }) => `- \`${path}\`: ${quoted(snippet)}`).join("\n");
      }
      const files = await memory.tree(user);
      return files.length === 0
        ? "Memory is empty."
        : files
            .map(
              ({ path, bytes, updatedAt }) =>
                `- \`${path}\` ${bytes} byte${bytes === 1 ? "" : "s"}, ${ago(updatedAt)}`,
            )
            .join("\n");
    },
  },
  model: {
    about: "show the current model",
    run({ agent }) {
      const { provider, name } = agent.model();
      return `**${quoted(name)}** (${provider}). To use another model, set MODEL_PROVIDER, MODEL_NAME, MODEL_BASE_URL or MODEL_API_KEY and restart.`;
    },
  },
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

/** The commands that start with what was typed; empty if it is not a command. */
export function completions(text: string): readonly string[] {
  const [, typed] = /^\/(\S*)$/.exec(text) ?? [];
  return typed === undefined ? [] : Object.keys(COMMANDS).filter((name) => name.startsWith(typed));
}

/** Runs a command and shows its result. An unambiguous prefix is enough. */
export async function runSlash(line: string, parts: SlashParts): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const fitting = completions(`/${name}`);
  const command = COMMANDS[name] ?? (fitting.length === 1 ? COMMANDS[fitting[0] ?? ""] : undefined);
  if (!command) {
    parts.conversation.note(`Unknown command: /${quoted(name)}. /help lists the commands.`, "bad");
    return;
  }
  const note = await command.run(parts, rest.trim());
  if (note !== undefined) parts.conversation.note(note);
}

/** Same, for text with URLs and patterns that Markdown would turn into links and emphasis. */
function verbatim(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("\n", " ")}\``;
}

function ago(time: string): string {
  const minutes = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`;
}
