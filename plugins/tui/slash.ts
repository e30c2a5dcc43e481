/** The commands typed into the composer, each answering with a note in the history pane. */
import type { Agent, Jobs, Memory, Threads, Tools } from "../../kernel/plugin.ts";
import type { Conversation } from "./conversation.ts";

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
  /** What it says, in Markdown. */
  run(parts: SlashParts, rest: string): string | undefined | Promise<string | undefined>;
}

const KEYS = `| key | |
|---|---|
| Enter | send the message |
| Shift+Enter, Alt+Enter, Ctrl+J | new line |
| Up, Down | scroll; in an empty composer, earlier messages |
| PgUp, PgDn | scroll by a page |
| Tab, Shift+Tab | next, previous element: tool calls, approvals; Enter opens one |
| Esc | cancel the turn, or go back |
| Ctrl+L | clear the screen |
| Ctrl+C | quit |`;

const LISTED = 15;

export const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: {
    about: "keys and commands",
    run: () => {
      const rows = Object.entries(COMMANDS).map(([name, { about }]) => `| /${name} | ${about} |`);
      return `${KEYS}\n\n| command | |\n|---|---|\n${rows.join("\n")}`;
    },
  },
  new: {
    about: "start a new thread",
    run: ({ conversation }) => {
      conversation.open(undefined);
      return "*A new thread: what you write next begins it.*";
    },
  },
  threads: {
    about: "list threads; /threads 2 opens the second, /threads words searches",
    run({ threads, user, conversation }, rest) {
      const number = /^\d+$/.test(rest) ? Number(rest) : undefined;
      const query = number === undefined && rest !== "" ? { q: rest } : {};
      const { items } = threads.list(user, { limit: LISTED, ...query });
      if (number !== undefined) {
        const chosen = items[number - 1];
        if (!chosen) return `There is no thread ${number} in the list; /threads shows it.`;
        conversation.open(chosen.id);
        return undefined;
      }
      if (items.length === 0) return "No threads yet.";
      const lines = items.map(
        ({ title, updatedAt, turns }, index) =>
          `${index + 1}. ${quoted(title)} — ${ago(updatedAt)}, ${turns} turn${turns === 1 ? "" : "s"}`,
      );
      return `${lines.join("\n")}\n\n*/threads 1 opens the first.*`;
    },
  },
  tools: {
    about: "the installed tools and what they may do",
    async run({ tools }) {
      const installed = (await tools?.list()) ?? [];
      if (installed.length === 0)
        return "No tools are installed. `postern tool install` adds one, from another terminal.";
      return installed
        .map(
          ({ name, version, description, grants }) =>
            `- **${quoted(name)}** ${quoted(version)}: ${quoted(description)}\n${grants.map((grant) => `  - ${verbatim(grant)}`).join("\n")}`,
        )
        .join("\n");
    },
  },
  jobs: {
    about: "the newest jobs of the webhook channel",
    run({ jobs }) {
      const items = jobs?.list({ limit: LISTED }).items ?? [];
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
    about: "what is remembered; /memory words searches",
    async run({ memory, user }, rest) {
      if (!memory) return "Memory is off.";
      if (rest !== "") {
        const hits = await memory.search(user, rest, LISTED);
        return hits.length === 0
          ? "Nothing is remembered about that."
          : hits.map(({ path, snippet }) => `- \`${path}\`: ${quoted(snippet)}`).join("\n");
      }
      const files = memory.tree(user);
      return files.length === 0
        ? "Nothing is remembered yet."
        : files
            .map(({ path, bytes, updatedAt }) => `- \`${path}\` ${bytes} bytes, ${ago(updatedAt)}`)
            .join("\n");
    },
  },
  model: {
    about: "which model answers",
    run({ agent }) {
      const { provider, name } = agent.model();
      return `**${quoted(name)}** (${provider}). MODEL_PROVIDER, MODEL_NAME, MODEL_BASE_URL and MODEL_API_KEY choose another at the next start.`;
    },
  },
  cancel: {
    about: "stop what runs in this thread",
    run: ({ conversation }) => (conversation.cancel() ? undefined : "Nothing runs."),
  },
  quit: {
    about: "leave",
    run: ({ quit }) => {
      quit();
      return undefined;
    },
  },
};

/** The names that this beginning of a command may become; none where it is no command. */
export function completions(text: string): readonly string[] {
  const [, begun] = /^\/(\S*)$/.exec(text) ?? [];
  return begun === undefined ? [] : Object.keys(COMMANDS).filter((name) => name.startsWith(begun));
}

/** Runs it and shows what it says. A beginning that fits only one command is that command. */
export async function runSlash(line: string, parts: SlashParts): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const fitting = completions(`/${name}`);
  const command = COMMANDS[name] ?? (fitting.length === 1 ? COMMANDS[fitting[0] ?? ""] : undefined);
  if (!command) {
    parts.conversation.note(`There is no command /${quoted(name)}. /help lists them.`, "bad");
    return;
  }
  const said = await command.run(parts, rest.trim());
  if (said !== undefined) parts.conversation.note(said);
}

/** Words of others inside our Markdown. */
function quoted(text: string): string {
  return text.replace(/[\\`*_[\]<>|#]/g, "\\$&").replaceAll("\n", " ");
}

/** The same for what holds addresses and patterns, which Markdown would take for links and emphasis. */
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
