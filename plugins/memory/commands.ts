/** `postern memory list|search|show|history|write|remove|restore`: what the agent keeps for a user, also while the service runs. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { OPERATOR } from "../../kernel/kit/people.ts";
import { toWire } from "../../kernel/kit/schema.ts";
import {
  relativeTime,
  say,
  sayJson,
  sayPainted,
  table,
  verb,
  wholeNumber,
} from "../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, reason } from "../../kernel/plugin.ts";
import type { Memory, RemovedDocument } from "./services.ts";
import { MemoryEntry, MemoryFile, MemoryHit, MemoryVersion, type MemoryWriter } from "./wire.ts";

interface Options {
  readonly user: string;
  readonly json?: boolean;
}

interface WriteOptions extends Options {
  readonly file?: string;
  readonly edit?: boolean;
  readonly expect?: number;
}

interface RestoreOptions extends Options {
  readonly removedAt?: string;
}

const MAX_HITS = 100;

export function register(group: Command, context: CommandContext): void {
  const add = (words: string, about: string, ...examples: readonly string[]) =>
    verb(group, words, about, ...examples).option("--user <user_id>", "whose", OPERATOR);
  const withMemory = (work: (memory: Memory) => Promise<void>) =>
    context.with(["memory"], ({ memory }) => work(memory));

  add("list", "list every file", "memory list", "memory list --user ann").action(
    ({ user, json = false }: Options) =>
      withMemory(async (memory) => {
        const files = await memory.tree(user);
        if (json) sayJson({ files: files.map((file) => toWire(MemoryEntry, file)) });
        else if (files.length === 0) say("Nothing is remembered yet.\n");
        else
          say(
            table(
              ["PATH", "BYTES", "CHANGED", "FROM"],
              files.map(({ path, bytes, updatedAt, origins }) => [
                path,
                String(bytes),
                relativeTime(updatedAt),
                origins === undefined ? "the user" : "others\u2019 words, too",
              ]),
            ),
          );
      }),
  );

  add("search <words...>", "search by words and by meaning", "memory search red bike")
    .option("--limit <count>", `how many, up to ${MAX_HITS}`, wholeNumber(MAX_HITS), 10)
    .action((words: readonly string[], { user, json = false, limit }: Options & { limit: number }) =>
      withMemory(async (memory) => {
        const q = words.join(" ");
        const hits = await memory.search(user, q, limit);
        if (json) sayJson({ results: hits.map((hit) => toWire(MemoryHit, hit)) });
        else if (hits.length === 0) say(`Nothing found for "${q}".\n`);
        else
          say(
            table(
              ["PATH", "CHANGED", "TEXT"],
              hits.map(({ path, updatedAt, snippet }) => [
                path,
                relativeTime(updatedAt),
                snippet.replaceAll("\n", " "),
              ]),
            ),
          );
      }),
    );

  add("show <path>", "print a file", "memory show facts/bike.md", "memory show facts/bike.md --version 2")
    .option("--version <version>", "as it was then; history lists the versions", parseVersion)
    .action((path: string, { user, json = false, version }: Options & { version?: number }) =>
      withMemory(async (memory) => {
        const file =
          (await (version === undefined
            ? memory.read(user, path)
            : memory.readVersion(user, path, version))) ?? missing(path, user, version);
        if (json) sayJson(toWire(MemoryFile, file));
        // On a terminal control characters are made visible; a pipe gets the text as it is.
        else
          (process.stdout.isTTY ? say : sayPainted)(file.text.endsWith("\n") ? file.text : `${file.text}\n`);
      }),
    );

  add(
    "history <path>",
    "list the versions of a file, newest first, and who wrote them",
    "memory history facts/bike.md",
  ).action((path: string, { user, json = false }: Options) =>
    withMemory(async (memory) => {
      const versions = await memory.history(user, path);
      if (versions.length === 0) missing(path, user);
      if (json) sayJson({ versions: versions.map((version) => toWire(MemoryVersion, version)) });
      else
        say(
          table(
            ["VERSION", "WRITTEN", "BYTES", "BY"],
            versions.map(({ version, updatedAt, bytes, writer }) => [
              String(version),
              relativeTime(updatedAt),
              String(bytes),
              writerInWords(writer),
            ]),
          ),
        );
    }),
  );

  add(
    "write <path>",
    "write a file: from --file, from what is piped in, or in your editor",
    "memory write facts/bike.md",
    "memory write facts/bike.md < bike.md",
    "memory write facts/bike.md --file bike.md --expect 3",
  )
    .option("--file <file>", "take the text of this file")
    .option("--edit", "open $VISUAL or $EDITOR, which is what happens on a terminal")
    .option(
      "--expect <version>",
      "only if this is still its version, as show --json prints it; 0: only if there is none",
      parseVersion,
    )
    .action((path: string, { user, json = false, expect, ...from }: WriteOptions) =>
      withMemory(async (memory) => {
        const before = await memory.read(user, path);
        const write = (text: string) =>
          memory.write(user, path, text, {
            expected: expect ?? before?.version ?? 0,
            writer: { kind: "cli" },
          });
        const isEdited = from.edit === true || (from.file === undefined && process.stdin.isTTY);
        const written = isEdited
          ? await edit(context.editor, path, before?.text ?? "", write)
          : await write(from.file === undefined ? await readPiped() : readGiven(context.folder, from.file));
        if (json) sayJson(written ?? { path, version: before?.version ?? 0 });
        else if (written === undefined) say("Nothing was changed.\n");
        else say(`Wrote ${written.path}, version ${written.version}.\n`);
      }),
    );

  add("remove <path>", "delete a file; it can be restored for 30 days", "memory remove facts/bike.md").action(
    (path: string, { user, json = false }: Options) =>
      withMemory(async (memory) => {
        if (!(await memory.remove(user, path))) missing(path, user);
        if (json) sayJson({ removed: path });
        else say(`Removed ${path}.\n`);
      }),
  );

  add(
    "restore [path]",
    "bring back a removed file with its versions; without a path, list those that can be restored",
    "memory restore",
    "memory restore facts/bike.md",
  )
    .option("--removed-at <time>", "the one that was removed then, where there are several")
    .action((path: string | undefined, { user, json = false, removedAt }: RestoreOptions) =>
      withMemory(async (memory) => {
        if (path === undefined) return listRemoved((await memory.removed?.(user)) ?? [], json);
        const restored = (await memory.restore?.(user, path, removedAt)) ?? notRemoved(path, user);
        if (json) sayJson(restored);
        else say(`Restored ${restored.path}, version ${restored.version}.\n`);
      }),
    );
}

function listRemoved(removed: readonly RemovedDocument[], json: boolean): void {
  if (json) sayJson({ removed: removed.map(({ removedAt, ...one }) => ({ ...one, removed_at: removedAt })) });
  else if (removed.length === 0) say("Nothing was removed in the last 30 days.\n");
  else
    say(
      table(
        ["PATH", "VERSION", "REMOVED"],
        removed.map(({ path, version, removedAt }) => [path, String(version), relativeTime(removedAt)]),
      ),
    );
}

function notRemoved(path: string, user: string): never {
  const message = `no ${path} was removed from ${user}'s memory in the last 30 days; "memory restore --user ${user}" lists what was`;
  throw new Fault("missing", "memory_not_found", message);
}

function missing(path: string, user: string, version?: number): never {
  throw new Fault(
    "missing",
    "memory_not_found",
    version === undefined
      ? `${user} has no ${path} in memory; "memory list --user ${user}" shows what there is`
      : `${user} has no version ${version} of ${path} in memory; "memory history ${path} --user ${user}" shows what there is`,
  );
}

const WAYS = { page: "on the page", api: "with a token", cli: "on the command line", model: "the model" };

function writerInWords(writer: MemoryWriter | undefined): string {
  if (writer === undefined) return "";
  const { kind, thread } = writer;
  return thread === undefined ? WAYS[kind] : `${WAYS[kind]}, in thread ${thread}`;
}

function parseVersion(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Use a whole number.");
  return Number(text);
}

async function readPiped(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
  if (text.trim() !== "") return text;
  const message = "there is nothing to write: pipe the text in, name a file with --file, or use --edit";
  throw new Fault("invalid", "empty_text", message, { usage: true });
}

function readGiven(folder: string, name: string): string {
  const file = resolve(folder, name);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Fault("invalid", "file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      usage: true,
    });
  }
}

/** Keeps the edited file if it could not be written. Undefined where nothing was changed. */
async function edit<Written>(
  editor: string,
  path: string,
  before: string,
  write: (text: string) => Promise<Written>,
): Promise<Written | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "postern-memory-"));
  const file = join(folder, basename(path));
  writeFileSync(file, before, { mode: 0o600 });
  // It may come with words of its own, such as `code --wait`.
  const { status, error } = spawnSync("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  try {
    if (error !== undefined || status !== 0) {
      const message = `the editor "${editor}" ${error === undefined ? `ended with ${status}` : `cannot be started (${reason(error)})`}: set EDITOR`;
      throw new Fault("invalid", "editor_failed", message);
    }
    const text = readFileSync(file, "utf8");
    const written = text === before ? undefined : await write(text);
    rmSync(folder, { recursive: true, force: true });
    return written;
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    throw new Fault(cause.kind, cause.code, `${cause.message}\nWhat you wrote is in ${file}.`, { cause });
  }
}
