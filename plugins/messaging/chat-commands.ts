/** Commands that people type into a chat: `/new`, `/threads`, `/stop`, `/undo`, `/model`, `/approvals`, `/help`. */
import { Fault, type Transaction } from "../../kernel/plugin.ts";
import type { Gates } from "./gates.ts";
import type { Recipient } from "./outbox.ts";
import type { ChannelParts } from "./parts.ts";
import type { IncomingMessage } from "./services.ts";

export interface CommandParts extends ChannelParts {
  readonly gates: Gates;
}

export interface CommandReply {
  /** What the person is told, in Markdown; empty for nothing. */
  readonly words: string;
  /** Changes what is kept, in the transaction that ends the message. */
  keep?(tx: Transaction): Promise<unknown>;
}

export type ChatCommands = ReturnType<typeof createCommands>;

/** What can be typed, for `/help` and the menus of services. */
export const CHAT_COMMANDS = [
  { name: "new", about: "starts a new thread" },
  { name: "threads", about: "lists your threads", example: "`/threads 2` continues the second" },
  { name: "stop", about: "stops what is running" },
  { name: "undo", about: "takes back the last change to your files in this thread" },
  { name: "model", about: "shows the models", example: "`/model <name>` chooses one for this thread" },
  { name: "approvals", about: "shows what waits for your answer" },
  { name: "help", about: "shows this" },
] as const satisfies readonly { readonly name: string; readonly about: string; readonly example?: string }[];

const HELP = `Write to me as you would to a person. Besides:\n\n${CHAT_COMMANDS.map(
  (one) => `- /${one.name} ${one.about}${"example" in one ? `; ${one.example}` : ""}`,
).join("\n")}`;

const MAX_LISTED = 10;
const MAX_MODELS = 30;
const MAX_PATHS = 10;
const COMMAND = /^\/([a-z]{2,20})(?:\s+(.{1,200}))?\s*$/s;

export function createCommands(parts: CommandParts) {
  const { outbox, jobs, threads, agent, workspace, accounts, requests, approvals, conversations, gates } =
    parts;
  const channel = parts.service.name;

  async function threadOf(line: string): Promise<string | undefined> {
    const row = await conversations.find(line);
    const job = row?.job ? await jobs.find(row.job) : undefined;
    return job?.thread ?? row?.thread ?? undefined;
  }

  const commands: Readonly<
    Record<string, (to: Recipient, given: string, id: string) => Promise<CommandReply | undefined>>
  > = {
    help: async () => ({ words: HELP }),
    start: async () => ({ words: HELP }),
    new: async (to, _, id) => ({
      words: "A new thread: what you write next begins it.",
      keep: (tx) => conversations.turnTo(tx, to, id),
    }),

    async threads(to, given, id) {
      const { items } = await threads.list(to.user, { limit: MAX_LISTED });
      if (items.length === 0) return { words: "You have no threads yet." };
      const lines = items.map(
        ({ title, updatedAt }, at) => `${at + 1}. ${title} (${updatedAt.slice(0, 10)})`,
      );
      if (given === "") return { words: `${lines.join("\n")}\n\nGo on with one: \`/threads 2\`` };
      const chosen = items[Number(given) - 1];
      if (chosen === undefined) return { words: `There is no thread ${given}: /threads lists them.` };
      return {
        words: `Going on with: ${chosen.title}`,
        keep: (tx) => conversations.turnTo(tx, to, id, chosen.id),
      };
    },

    async stop(to) {
      const owed = await outbox.owedIn(to.line);
      for (const { job } of owed) await jobs.cancel(job);
      // Each of them says that it was stopped.
      return { words: owed.length === 0 ? "Nothing is running." : "" };
    },

    async undo(to, _, id) {
      if (!workspace) return { words: "There is no workspace here, so there is nothing to undo." };
      // Names this very message, so that it takes back one set however often it is dealt with.
      const turn = `${channel} ${id}`;
      const thread = await threadOf(to.line);
      const [done] = (await workspace.log(to.user, { turn, limit: 1 })).items;
      const set = (await workspace.log(to.user, { limit: 50 })).items.find(
        (one) => one.writer.thread === thread && one.undoes === undefined && one.undoneBy === undefined,
      );
      if (done === undefined && (thread === undefined || set === undefined))
        return { words: "There is no change to your files in this thread to undo." };
      const { set: taken, conflicts } = done
        ? { set: done, conflicts: [] }
        : await workspace.undo(to.user, set?.id ?? "", { writer: { kind: "api", channel, turn } });
      if (taken === undefined) {
        const paths = conflicts.map(({ path }) => path).slice(0, MAX_PATHS);
        return { words: `Not undone: these have changed since: ${paths.join(", ")}` };
      }
      return {
        words: `Undone: ${taken.changes
          .slice(0, MAX_PATHS)
          .map(({ path }) => path)
          .join(", ")}`,
      };
    },

    async model(to, given) {
      const { items } = await agent.models();
      const thread = await threadOf(to.line);
      if (given === "") {
        const own = thread === undefined ? undefined : (await threads.find(to.user, thread))?.model;
        const { provider, name } = own ?? agent.model();
        const names = items.slice(0, MAX_MODELS).map((one) => `- ${one.provider}/${one.name}`);
        return {
          words: `This thread uses ${provider}/${name}.\n\n${names.join("\n")}\n\nChoose one: \`/model <name>\``,
        };
      }
      const cut = given.indexOf("/");
      const wanted = items.find((one) => given === one.name || given === `${one.provider}/${one.name}`) ?? {
        name: given.slice(cut + 1),
        ...(cut > 0 ? { provider: given.slice(0, cut) } : {}),
      };
      if (thread === undefined) {
        if (!items.some(({ name }) => name === wanted.name))
          return { words: `There is no model ${given}: /model lists them.` };
        return {
          words: `The next thread uses ${wanted.name}.`,
          keep: (tx) => conversations.chooseModel(tx, to, wanted),
        };
      }
      await threads.setModel(to.user, thread, wanted);
      return { words: `This thread uses ${wanted.name} from now on.` };
    },

    /** Asks everything again that waits for this person, wherever it was asked first. */
    async approvals(to, given) {
      if (given !== "") return undefined;
      const asked = (await approvals.pending(to.user)).flatMap((gate) => gates.ask(gate, to) ?? []);
      if (asked.length === 0) return { words: "Nothing waits for your answer." };
      return {
        words: "",
        async keep(tx) {
          for (const { content, keep } of asked) {
            await keep(tx);
            await outbox.sayAside(tx, to, content);
          }
        },
      };
    },
  };

  /** Only for those who may decide who is let in. */
  const decide =
    (act: (code: string, account: string) => Promise<string>) =>
    async (to: Recipient, given: string): Promise<CommandReply> => {
      if ((await accounts.find(to.user))?.role !== "operator")
        return { words: "Only an operator can decide who is let in." };
      const [code = "", account = to.user] = given.split(/\s+/);
      return { words: await act(code, account) };
    };
  const deciding: typeof commands = {
    pair: decide(async (code, account) => {
      const { identity } = await requests.pair(code, account);
      return `${identity} is let in as ${account}.`;
    }),
    deny: decide(async (code) =>
      (await requests.deny(code)) ? "Turned away." : "No sender waits with this code.",
    ),
  };

  const all = { ...commands, ...deciding };
  return {
    /** Returns undefined if the text is not a command: then it is a message. `id` is the message's own. */
    async run(
      { text, edits }: IncomingMessage,
      to: Recipient,
      id: string,
    ): Promise<CommandReply | undefined> {
      const [, name = "", given = ""] = COMMAND.exec(text.trim()) ?? [];
      const isCommand = Object.hasOwn(all, name) && (!edits || name === "approvals");
      try {
        return isCommand ? await all[name]?.(to, given.trim(), id) : undefined;
      } catch (error) {
        if (error instanceof Fault && error.kind !== "unavailable") return { words: error.message };
        throw error;
      }
    },
  };
}
