/** `postern thread list|search|show|export|rename|remove`: conversations from the command line, also while the service runs. */

import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import {
  type ExportFormat,
  fields,
  OPERATOR,
  say,
  sayJson,
  sayPainted,
  type ThreadSummary,
  table,
  toWire,
  ThreadSummary as WireThread,
  TurnRecord as WireTurn,
} from "../../../kernel/kit.ts";
import {
  type CommandContext,
  Fault,
  type Page,
  type TurnItem,
  type TurnRecord,
} from "../../../kernel/plugin.ts";
import type { Threads } from "../services.ts";

interface Options {
  readonly user: string;
  readonly json?: boolean;
}

interface ListOptions extends Options {
  readonly limit: number;
  readonly before?: string;
}

const MAX_LISTED = 200;
const FORMATS: readonly ExportFormat[] = ["markdown", "json"];
const SOME_ID = "0c9c2a52-6b1d-4f6e-8a44-3c1f7a0f8d11";

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
  const withThreads = (work: (threads: Threads) => Promise<void>) =>
    context.with(["threads"], ({ threads }) => work(threads));

  verb("list", "list threads, last changed first", "list", "list --user ann --limit 5")
    .option("--limit <count>", `how many, up to ${MAX_LISTED}`, parseLimit, 20)
    .option("--before <cursor>", "go on where an earlier list ended")
    .option("--json", "print JSON")
    .action(({ user, json = false, limit, before }: ListOptions) =>
      withThreads(async (threads) => {
        const page = await threads.list(user, { limit, ...(before !== undefined && { before }) });
        printList(page, json, `postern thread list --user ${user}`, "No threads yet.");
      }),
    );

  verb("search <words...>", "find threads by their titles and messages", "search red bike")
    .option("--limit <count>", `how many, up to ${MAX_LISTED}`, parseLimit, 20)
    .option("--before <cursor>", "go on where an earlier search ended")
    .option("--json", "print JSON")
    .action((words: readonly string[], { user, json = false, limit, before }: ListOptions) =>
      withThreads(async (threads) => {
        const q = words.join(" ");
        const page = await threads.list(user, { q, limit, ...(before !== undefined && { before }) });
        printList(page, json, `postern thread search --user ${user} ${q}`, `No thread found for "${q}".`);
      }),
    );

  verb("show <thread_id>", "show a thread and its newest turns", `show ${SOME_ID}`)
    .option("--turns <count>", `how many, up to ${MAX_LISTED}`, parseLimit, 10)
    .option("--json", "print JSON")
    .action((id: string, { user, json = false, turns: limit }: Options & { turns: number }) =>
      withThreads(async (threads) => {
        const thread = (await threads.find(user, id)) ?? missing(id, user);
        const turns = await threads.turns(user, id, { limit });
        if (json)
          sayJson({
            thread: toWire(WireThread, thread),
            turns: turns.items.map((turn) => toWire(WireTurn, turn)),
            next: turns.next ?? null,
          });
        else say(inWords(thread, turns));
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
    .action((id: string, { user, format, output, replace = false }: ExportOptions) =>
      withThreads(async (threads) => {
        const { text } = await threads.export(user, id, format);
        if (output === undefined) for await (const part of text) sayExport(part);
        else {
          const file = resolve(context.folder, output);
          await writeNew(file, text, replace);
          say(`Wrote ${file}.\n`);
        }
      }),
    );

  verb("rename <thread_id> <title...>", "give a thread another title", `rename ${SOME_ID} The red bike`)
    .option("--json", "print JSON")
    .action((id: string, words: readonly string[], { user, json = false }: Options) =>
      withThreads(async (threads) => {
        await threads.rename(user, id, words.join(" "));
        const thread = (await threads.find(user, id)) ?? missing(id, user);
        if (json) sayJson(toWire(WireThread, thread));
        else say(`${id} is now "${thread.title}".\n`);
      }),
    );

  verb("remove <thread_id>", "delete a thread and everything in it", `remove ${SOME_ID}`)
    .option("--json", "print JSON")
    .action((id: string, { user, json = false }: Options) =>
      withThreads(async (threads) => {
        const { title } = (await threads.find(user, id)) ?? missing(id, user);
        await threads.remove(user, id);
        if (json) sayJson({ removed: id });
        else say(`Removed "${title}".\n`);
      }),
    );
}

interface ExportOptions extends Options {
  readonly format: ExportFormat;
  readonly output?: string;
  readonly replace?: boolean;
}

function missing(id: string, user: string): never {
  throw new Fault(
    "missing",
    "thread_not_found",
    `${user} has no thread ${id}; "postern thread list --user ${user}" shows all of them`,
  );
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_LISTED}.`);
  return limit;
}

function parseFormat(text: string): ExportFormat {
  const format = FORMATS.find((known) => known === text);
  if (format === undefined) throw new InvalidArgumentError(`Use ${FORMATS.join(" or ")}.`);
  return format;
}

function printList({ items, next }: Page<ThreadSummary>, json: boolean, again: string, none: string): void {
  if (json) sayJson({ threads: items.map((thread) => toWire(WireThread, thread)), next: next ?? null });
  else if (items.length === 0) say(`${none}\n`);
  else {
    const rows = items.map(({ id, title, turns, updatedAt, gate }) => [
      id,
      updatedAt,
      String(turns),
      gate === undefined ? title : `${title} (waits for an answer)`,
    ]);
    const more = next === undefined ? "" : `More: ${again} --before ${next}\n`;
    say(`${table(["THREAD", "CHANGED", "TURNS", "TITLE"], rows, { cut: ["TITLE"] })}${more}`);
  }
}

/** On a terminal control characters are made visible; a file or a pipe gets the text as it is. */
function sayExport(text: string): void {
  if (process.stdout.isTTY) say(text);
  else sayPainted(text);
}

async function writeNew(file: string, text: AsyncIterable<string>, replace: boolean): Promise<void> {
  // What is there stays whole until the new one is.
  const target = replace ? join(dirname(file), `.${basename(file)}.${process.pid}.part`) : file;
  const refuse = (error: NodeJS.ErrnoException): never => {
    throw new Fault(
      "invalid",
      error.code === "EEXIST" ? "file_exists" : "file_unwritable",
      error.code === "EEXIST"
        ? `${file} is there already: use --replace`
        : `${file} cannot be written: ${error.message}`,
      { usage: true },
    );
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
    ["created", createdAt],
    ["changed", updatedAt],
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
  return `\n› ${asked.replaceAll("\n", "\n  ")}\n  ${createdAt}, ${channel}, ${model.name}\n${items.map(itemInWords).join("")}${failure}${end}`;
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
