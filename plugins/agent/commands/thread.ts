/** `postern thread list|search|show|export|rename|remove|bin|restore|empty-bin`: conversations from the command line, through the running service where there is one. */
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import {
  agree,
  createShortener,
  fields,
  findByPrefix,
  relativeTime,
  say,
  sayJson,
  sayPainted,
  sayText,
  shortId,
  type TableOptions,
  table,
  typedCommand,
  wholeNumber,
} from "../../../kernel/kit/terminal.ts";
import { visible } from "../../../kernel/kit/text.ts";
import {
  type ThreadSummary,
  ThreadSummary as WireThread,
  TurnRecord as WireTurn,
} from "../../../kernel/kit/turns.ts";
import {
  type CommandContext,
  Fault,
  type Page,
  type TurnItem,
  type TurnRecord,
} from "../../../kernel/plugin.ts";
import type { BinnedThread, Conversations, ExportFormat } from "../services.ts";
import { BinnedThread as WireBinned } from "../wire.ts";

interface Options {
  readonly user: string;
  readonly json?: boolean;
}

interface ListOptions extends Options {
  readonly limit: number;
  readonly before?: string;
}

interface RemoveOptions extends Options {
  readonly yes?: boolean;
  readonly now?: boolean;
}

const MAX_LISTED = 200;
const FORMATS: readonly ExportFormat[] = ["markdown", "json"];
const SOME_ID = "0c9c2a52";

export function register(group: Command, context: CommandContext): void {
  const verb = (words: string, about: string, ...examples: readonly string[]) =>
    group
      .command(words)
      .description(about)
      .option("--user <user_id>", "whose", OPERATOR)
      .addHelpText(
        "after",
        `\nExample${examples.length > 1 ? "s" : ""}:\n${examples.map((example) => `  $ postern thread ${example}`).join("\n")}`,
      );
  const withThreads = (user: string, work: (threads: Conversations) => Promise<void>) =>
    context.with(["conversations"], ({ conversations }) => work(conversations), { user });
  const withThread = (
    { user }: Options,
    id: string,
    work: (threads: Conversations, thread: ThreadSummary) => Promise<void>,
  ) => withThreads(user, async (threads) => work(threads, await findThread(threads, user, id)));

  const printList = async <Listed extends ThreadSummary>(
    { items, next }: Page<Listed>,
    { json = false }: Options,
    { wireOf, columns, again, none }: ListWords<Listed>,
  ): Promise<void> => {
    if (json) sayJson({ threads: items.map((thread) => wireOf(thread)), next: next ?? null });
    else if (items.length === 0) say(`${none}\n`);
    else {
      const shorten = createShortener(items.map(({ id }) => id));
      const rows = items.map((thread) => [
        shorten(thread.id),
        ...Object.values(columns).map((cell) => cell(thread)),
      ]);
      const more = next ? `More: ${typedCommand()} thread ${again} --before ${next}\n` : "";
      const heads = ["THREAD", ...Object.keys(columns)];
      await context.show(`${table(heads, rows, { cut: ["TITLE"], colours: WAITING })}${visible(more)}`);
    }
  };

  const listing = (command: Command, what: string) =>
    command
      .option("--limit <count>", `how many, up to ${MAX_LISTED}`, wholeNumber(MAX_LISTED), 20)
      .option("--before <cursor>", `continue where an earlier ${what} ended`)
      .option("--json", "print JSON");

  listing(
    verb("list", "list threads, last changed first", "list", "list --user ann --limit 5"),
    "list",
  ).action(({ limit, before, ...options }: ListOptions) =>
    withThreads(options.user, async (threads) => {
      const page = await threads.list(options.user, { limit, before });
      const again = `list${whose(options.user)}`;
      await printList(page, options, { ...LISTED, again, none: "No threads yet." });
    }),
  );

  listing(
    verb("search <words...>", "find threads by their titles and messages", "search red bike"),
    "search",
  ).action((words: readonly string[], { limit, before, ...options }: ListOptions) =>
    withThreads(options.user, async (threads) => {
      const q = words.join(" ");
      const page = await threads.list(options.user, { q, limit, before });
      const again = `search${whose(options.user)} ${q}`;
      await printList(page, options, { ...LISTED, again, none: `No thread found for "${q}".` });
    }),
  );

  verb("show <thread_id>", "show a thread and its newest turns", `show ${SOME_ID}`)
    .option("--turns <count>", `how many, up to ${MAX_LISTED}`, wholeNumber(MAX_LISTED), 10)
    .option("--json", "print JSON")
    .action((given: string, { turns: limit, ...options }: Options & { turns: number }) =>
      withThread(options, given, async (threads, thread) => {
        const { user, json = false } = options;
        const turns = await threads.turns(user, thread.id, { limit });
        if (json)
          sayJson({
            thread: toWire(WireThread, thread),
            turns: turns.items.map((turn) => toWire(WireTurn, turn)),
            next: turns.next ?? null,
          });
        else await context.show(visible(inWords(thread, turns)));
      }),
    );

  verb(
    "export <thread_id>",
    "print all of a thread, or write it to a file",
    `export ${SOME_ID} > talk.md`,
    `export ${SOME_ID} --format json --output talk.json`,
  )
    .option("--format <format>", FORMATS.join(" or "), parseFormat, "markdown")
    .option("--output <file>", "write it there; a file that is there already is left alone")
    .option("--replace", "replace the file if it is there")
    .action((given: string, { format, output, replace = false, ...options }: ExportOptions) =>
      withThread(options, given, async (threads, { id }) => {
        const { text } = await threads.export(options.user, id, format);
        // On a terminal control characters are made visible; a file or a pipe gets the text as it is.
        const print = process.stdout.isTTY ? sayText : sayPainted;
        if (output === undefined) for await (const part of text) print(part);
        else {
          const file = resolve(context.folder, output);
          await writeNew(file, text, replace);
          say(`Wrote ${file}.\n`);
        }
      }),
    );

  verb("rename <thread_id> <title...>", "give a thread another title", `rename ${SOME_ID} The red bike`)
    .option("--json", "print JSON")
    .action((given: string, words: readonly string[], options: Options) =>
      withThread(options, given, async (threads, { id }) => {
        const { user, json = false } = options;
        await threads.rename(user, id, words.join(" "));
        const thread = (await threads.find(user, id)) ?? missing(given, user);
        if (json) sayJson(toWire(WireThread, thread));
        else say(`${shortId(id)} is now "${thread.title}".\n`);
      }),
    );

  verb(
    "remove <thread_id>",
    "move a thread to the bin, where it can be restored for 30 days",
    `remove ${SOME_ID}`,
    `remove ${SOME_ID} --yes`,
    `remove ${SOME_ID} --now`,
  )
    .option("--now", "delete it for good instead, also from the bin")
    .option("--yes", "do not ask; for scripts")
    .option("--json", "print JSON")
    .action((given: string, options: RemoveOptions) =>
      withThreads(options.user, async (threads) => {
        const { user, now = false, json = false } = options;
        const thread = await (now ? findAnywhere : findThread)(threads, user, given);
        const named = `"${thread.title}" (${turnsOf(thread)}, last changed ${relativeTime(thread.updatedAt)})`;
        await agree(
          now
            ? `Delete ${named} for good? It cannot be restored.`
            : `Move ${named} to the bin? It can be restored for 30 days.`,
          options,
        );
        await (now ? threads.remove(user, thread.id) : threads.bin(user, thread.id));
        if (json) sayJson({ removed: thread.id, restorable: !now });
        else if (now) say(`Deleted "${thread.title}" for good.\n`);
        else
          say(
            `Moved "${thread.title}" to the bin. To undo: ${typedCommand()} thread restore ${shortId(thread.id)}${whose(user)}\n`,
          );
      }),
    );

  listing(verb("bin", "list the threads in the bin, last deleted first", "bin", "bin --json"), "list").action(
    ({ limit, before, ...options }: ListOptions) =>
      withThreads(options.user, async (threads) => {
        const page = await threads.binned(options.user, { limit, ...(before !== undefined && { before }) });
        const again = `bin${whose(options.user)}`;
        await printList(page, options, { ...BINNED, again, none: "The bin is empty." });
      }),
  );

  verb("restore <binned_id>", "restore a thread from the bin", `restore ${SOME_ID}`)
    .option("--json", "print JSON")
    .action((given: string, { user, json = false }: Options) =>
      withThreads(user, async (threads) => {
        const { id } = (await findBinned(threads, user, given)) ?? missing(given, user, true);
        await threads.restore(user, id);
        const thread = (await threads.find(user, id)) ?? missing(given, user);
        if (json) sayJson(toWire(WireThread, thread));
        else say(`Restored "${thread.title}".\n`);
      }),
    );

  verb("empty-bin", "delete all threads in the bin for good", "empty-bin", "empty-bin --yes")
    .option("--yes", "do not ask; for scripts")
    .option("--json", "print JSON")
    .action((options: RemoveOptions) =>
      withThreads(options.user, async (threads) => {
        const { user, json = false } = options;
        const isEmpty = (await threads.binned(user, { limit: 1 })).items.length === 0;
        if (!isEmpty)
          await agree("Delete all threads in the bin for good? They cannot be restored.", options);
        const deleted = isEmpty ? 0 : await threads.emptyBin(user);
        if (json) sayJson({ deleted });
        else if (isEmpty) say("The bin is empty.\n");
        else say(`Deleted ${deleted} thread${deleted === 1 ? "" : "s"} for good.\n`);
      }),
    );
}

/** How a list of threads reads: as JSON, in columns, and with the command that continues it. */
interface ListWords<Listed> {
  wireOf(thread: Listed): unknown;
  readonly columns: Readonly<Record<string, (thread: Listed) => string>>;
  readonly again: string;
  readonly none: string;
}

const WAITING: TableOptions["colours"] = { STATE: () => "yellow" };

const LISTED = {
  wireOf: (thread: ThreadSummary) => toWire(WireThread, thread),
  columns: {
    CHANGED: ({ updatedAt }: ThreadSummary) => relativeTime(updatedAt),
    TURNS: ({ turns }: ThreadSummary) => String(turns),
    STATE: ({ gate }: ThreadSummary) => (gate === undefined ? "" : "waits for you"),
    TITLE: ({ title }: ThreadSummary) => title,
  },
};

const BINNED = {
  wireOf: (thread: BinnedThread) => toWire(WireBinned, thread),
  columns: {
    DELETED: ({ binnedAt }: BinnedThread) => relativeTime(binnedAt),
    TURNS: ({ turns }: BinnedThread) => String(turns),
    GONE: ({ expiresAt }: BinnedThread) => relativeTime(expiresAt),
    TITLE: ({ title }: BinnedThread) => title,
  },
};

const turnsOf = ({ turns }: ThreadSummary): string => `${turns} turn${turns === 1 ? "" : "s"}`;

interface ExportOptions extends Options {
  readonly format: ExportFormat;
  readonly output?: string;
  readonly replace?: boolean;
}

/** The thread with this id, or the only one whose id begins so. */
export async function findThread(
  threads: Pick<Conversations, "find" | "list">,
  user: string,
  given: string,
): Promise<ThreadSummary> {
  return (await findListed(threads, user, given)) ?? missing(given, user);
}

const findListed = (threads: Pick<Conversations, "find" | "list">, user: string, given: string) =>
  findByPrefix(given, {
    ...WHAT,
    find: (id) => threads.find(user, id),
    list: (before) => threads.list(user, { limit: MAX_LISTED, before }),
  });

const findBinned = (threads: Pick<Conversations, "binned">, user: string, given: string) =>
  findByPrefix(given, {
    ...WHAT,
    find: async () => undefined,
    list: (before) => threads.binned(user, { limit: MAX_LISTED, ...(before !== undefined && { before }) }),
  });

const WHAT = { what: "thread", title: ({ title }: ThreadSummary) => title };

/** A thread from the list or from the bin. */
async function findAnywhere(threads: Conversations, user: string, given: string): Promise<ThreadSummary> {
  const listed = await findListed(threads, user, given);
  const binned = await findBinned(threads, user, given);
  if (listed !== undefined && binned !== undefined) {
    const message = `A thread and one in the bin begin with ${given}. Give more of the id:\n  ${listed.id}  ${listed.title}\n  ${binned.id}  ${binned.title} (in the bin)`;
    throw new Fault("invalid", "ambiguous_id", message, { usage: true });
  }
  return listed ?? binned ?? missing(given, user);
}

const whose = (user: string): string => (user === OPERATOR ? "" : ` --user ${user}`);

function missing(id: string, user: string, inBin = false): never {
  const [where, list] = inBin ? [" in the bin", "bin"] : ["", "list"];
  const message = `${user} has no thread ${id}${where}; "postern thread ${list}${whose(user)}" shows all of them`;
  throw new Fault("missing", "thread_not_found", message);
}

function parseFormat(text: string): ExportFormat {
  const format = FORMATS.find((known) => known === text);
  if (format === undefined) throw new InvalidArgumentError(`Use ${FORMATS.join(" or ")}.`);
  return format;
}

export async function writeNew(file: string, text: AsyncIterable<string>, replace: boolean): Promise<void> {
  // The existing file stays whole until the new one is.
  const target = replace ? join(dirname(file), `.${basename(file)}.${process.pid}.part`) : file;
  const refuse = (error: NodeJS.ErrnoException): never => {
    const [code, message] =
      error.code === "EEXIST"
        ? ["file_exists", `${file} is there already: use --replace`]
        : ["file_unwritable", `${file} cannot be written: ${error.message}`];
    throw new Fault("invalid", code, message, { usage: true });
  };
  const handle = await open(target, "wx", 0o600).catch(refuse);
  try {
    for await (const part of text) await handle.write(part);
    await handle.close();
    if (replace) await rename(target, file).catch(refuse);
  } catch (error) {
    await handle.close();
    // Half a conversation could pass for a whole one.
    await rm(target, { force: true });
    throw error;
  }
}

function inWords(
  { id, title, createdAt, updatedAt, turns, gate }: ThreadSummary,
  { items, next }: Page<TurnRecord>,
): string {
  const head = fields([
    ["thread", id],
    ["title", title],
    ["created", `${relativeTime(createdAt)} (${createdAt})`],
    ["changed", `${relativeTime(updatedAt)} (${updatedAt})`],
    ["turns", String(turns)],
    ...(gate === undefined ? [] : [["waits for", gate.type]]),
  ]);
  const earlier = next === undefined ? "" : `\n… ${turns - items.length} earlier turns: --turns\n`;
  return `${head}${earlier}${items.map(turnInWords).join("")}`;
}

function turnInWords({ createdAt, channel, input, items, status, error, model }: TurnRecord): string {
  const asked = input.type === "message" ? input.text : `(${input.type})`;
  const failure = error === undefined ? "" : `\n  failed: ${error.message}\n`;
  const end = status === "completed" || status === "failed" ? "" : `\n  (${status})\n`;
  return `\n› ${asked.replaceAll("\n", "\n  ")}\n  ${relativeTime(createdAt)}, ${channel}, ${model.name}\n${items.map(itemInWords).join("")}${failure}${end}`;
}

function itemInWords(item: TurnItem): string {
  switch (item.type) {
    case "message":
      return item.role === "assistant" ? `\n${item.text.trimEnd()}\n` : "";
    case "tool_call":
      return `\n  called ${item.call.name} ${item.call.params}\n`;
    case "tool_result":
      return item.outcome.status === "ok" ? "" : `  ${item.outcome.status}: ${item.outcome.message}\n`;
    default:
      return "";
  }
}
