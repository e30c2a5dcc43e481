/** `postern workspace ls|cat|get|put|log|diff|undo|mount …`: the files of a user, also while the service runs. */
import { createReadStream, createWriteStream, existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Command, InvalidArgumentError } from "commander";
import { createTwoFilesPatch } from "diff";
import { isTextual } from "../../kernel/kit/files.ts";
import { OPERATOR } from "../../kernel/kit/people.ts";
import {
  findByPrefix,
  relativeTime,
  say,
  sayJson,
  sayPainted,
  sayText,
  shortId,
  table,
} from "../../kernel/kit/terminal.ts";
import { othersIn } from "../../kernel/kit/turns.ts";
import { type CommandContext, Fault, reason } from "../../kernel/plugin.ts";
import type {
  Change,
  ChangeSet,
  FileStream,
  Mount,
  MountOwner,
  UndoOutcome,
  Workspace,
  WorkspaceEntry,
  WorkspaceVersion,
  Writer,
} from "./services.ts";

interface Options {
  readonly user: string;
  readonly json?: boolean;
}

interface MountOptions {
  readonly user?: string;
  readonly everybody?: boolean;
  readonly json?: boolean;
}

interface VersionOption {
  readonly version?: number;
}

const CHANGE: Change = { writer: { kind: "cli" } };
const MAX_HITS = 1000;
const DIFF_TIMEOUT_MS = 5000;

export function register(group: Command, context: CommandContext): void {
  const withExamples = (command: Command, examples: readonly string[]) =>
    command
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        `\nExample${examples.length > 1 ? "s" : ""}:\n${examples.map((example) => `  $ ${example}`).join("\n")}`,
      );
  const verb = (words: string, about: string, ...examples: readonly string[]) =>
    withExamples(
      group.command(words).description(about).option("--user <user_id>", "whose", OPERATOR),
      examples,
    );
  const withWorkspace = (work: (workspace: Workspace) => Promise<void>) =>
    context.with(["workspace"], ({ workspace }) => work(workspace));

  verb("ls [folder]", "list a folder", "postern workspace ls", "postern workspace ls /reports --deep")
    .option("--deep", "everything below it")
    .action(
      (folder: string | undefined, { user, json = false, deep = false }: Options & { deep?: boolean }) =>
        withWorkspace(async (workspace) => {
          const entries = await listAll(workspace, user, folder ?? "/", deep);
          const roots = folder === undefined ? await workspace.roots(user) : [];
          if (json) return sayJson({ entries: entries.map(wireEntry) });
          const named = roots.filter(({ kind }) => kind === "named").map(({ name }) => `${name}:/`);
          if (entries.length === 0 && named.length === 0) say("There are no files here yet.\n");
          else if (entries.length > 0)
            say(
              table(
                ["PATH", "BYTES", "VERSION", "CHANGED", "FROM"],
                entries.map(({ path, kind, bytes, version, updatedAt, origins, isReadOnly }) =>
                  kind === "folder"
                    ? [`${path}/`, "", "", "", isReadOnly ? "read-only" : ""]
                    : [
                        path,
                        String(bytes),
                        String(version),
                        relativeTime(updatedAt),
                        othersIn(origins).length > 0 ? "others’ words, too" : "the user",
                      ],
                ),
              ),
            );
          if (named.length > 0) say(`Named workspaces: ${named.join(", ")}\n`);
        }),
    );

  verb(
    "cat <path>",
    "print a file",
    "postern workspace cat /reports/may.csv",
    "postern workspace cat /plan.md --version 2",
  )
    .option("--version <version>", "as it was then; versions lists them", parseNumber)
    .action((path: string, { user, version }: Options & VersionOption) =>
      withWorkspace(async (workspace) => {
        const { entry, data } = (await workspace.stream(user, path, version)) ?? missing(path, user, version);
        if (process.stdout.isTTY && !isTextual(entry.mime) && entry.bytes > 0)
          throw new Fault(
            "invalid",
            "not_text",
            `${path} is ${entry.mime}, which a terminal cannot show: use "postern workspace get ${path}"`,
          );
        // On a terminal control characters are made visible; a pipe gets the bytes as they are.
        if (process.stdout.isTTY) sayText(await textOf(data));
        else await pipeline(data, process.stdout, { end: false }).catch(unlessReaderLeft);
      }),
    );

  verb(
    "get <path> [file]",
    "copy a file of the workspace to this machine",
    "postern workspace get /reports/may.csv",
    "postern workspace get /reports/may.csv ~/may.csv --replace",
  )
    .option("--version <version>", "as it was then", parseNumber)
    .option("--replace", "overwrite the file that is there")
    .action(
      (
        path: string,
        file: string | undefined,
        { user, json = false, version, replace = false }: Options & VersionOption & { replace?: boolean },
      ) =>
        withWorkspace(async (workspace) => {
          const found = (await workspace.stream(user, path, version)) ?? missing(path, user, version);
          const target = placeOf(context.folder, file ?? basename(found.entry.path), found.entry.path);
          if (!replace && existsSync(target))
            throw usage(`${target} is there already: use --replace to overwrite it`);
          await copyTo(found, target, replace);
          if (json) sayJson({ ...wireEntry(found.entry), file: target });
          else say(`Wrote ${target}.\n`);
        }),
    );

  verb(
    "put <file> [path]",
    "copy a file of this machine into the workspace; - is what is piped in",
    "postern workspace put may.csv",
    "postern workspace put may.csv /reports/may.csv --expect 2",
    'echo "a,b" | postern workspace put - /reports/may.csv',
  )
    .option("--expect <version>", "only if this is still its version; 0: only if there is none", parseNumber)
    .action(
      (
        file: string,
        path: string | undefined,
        { user, json = false, expect }: Options & { expect?: number },
      ) =>
        withWorkspace(async (workspace) => {
          if (file === "-" && path === undefined)
            throw usage("name the path that what is piped in should have");
          const target = path?.endsWith("/") ? `${path}${basename(file)}` : (path ?? `/${basename(file)}`);
          const data = file === "-" ? readPiped() : readFrom(resolve(context.folder, file));
          const entry = await workspace.upload(user, target, data, CHANGE, expect);
          if (json) sayJson(wireEntry(entry));
          else say(`Wrote ${entry.path}, version ${entry.version}.\n`);
        }),
    );

  verb(
    "mv <path> <to>",
    "move or rename a file or folder",
    "postern workspace mv /may.csv /reports/may.csv",
  ).action((path: string, to: string, { user, json = false }: Options) =>
    withWorkspace(async (workspace) => {
      const [entry] = await workspace.apply(user, [{ op: "move", path, to }], CHANGE);
      if (json) sayJson({ from: path, to: entry?.path });
      else say(`Moved ${path} to ${entry?.path}.\n`);
    }),
  );

  verb(
    "rm <path>",
    "remove a file, or a folder with everything in it; it can be undone for 30 days",
    "postern workspace rm /reports/old",
  ).action((path: string, { user, json = false }: Options) =>
    withWorkspace(async (workspace) => {
      await workspace.apply(user, [{ op: "remove", path }], CHANGE);
      const [set] = (await workspace.log(user, { limit: 1 })).items;
      if (json) sayJson({ removed: path, change: set?.id });
      else say(`Removed ${path}. "postern workspace undo ${shortId(set?.id ?? "")}" brings it back.\n`);
    }),
  );

  verb(
    "search [words...]",
    "search text files line by line",
    "postern workspace search red bike",
    "postern workspace search --pattern '^Total: [0-9]+' --folder /reports",
  )
    .option("--pattern <expression>", "a regular expression without look-around, in place of words")
    .option("--folder <folder>", "only below it")
    .option("--limit <count>", `how many lines, up to ${MAX_HITS}`, parseNumber, 100)
    .action(
      (
        words: readonly string[],
        { user, json = false, ...query }: Options & { pattern?: string; folder?: string; limit: number },
      ) =>
        withWorkspace(async (workspace) => {
          const asked = { ...query, ...(words.length > 0 && { words: words.join(" ") }) };
          const { hits, isComplete } = await workspace.search(user, asked);
          if (json) return sayJson({ results: hits, complete: isComplete });
          if (hits.length === 0) say("Nothing found.\n");
          for (const { path, line, text } of hits) sayText(`${path}:${line}: ${text}\n`);
          if (!isComplete) say("There is more than one search reads or shows: narrow it down.\n");
        }),
    );

  verb(
    "versions <path>",
    "list the versions of a file, newest first",
    "postern workspace versions /plan.md",
  ).action((path: string, { user, json = false }: Options) =>
    withWorkspace(async (workspace) => {
      const versions = await workspace.versions(user, path);
      if (versions.length === 0) missing(path, user);
      if (json) return sayJson({ versions: versions.map(wireVersion) });
      say(
        table(
          ["VERSION", "WRITTEN", "CHANGE", "BYTES", "BY"],
          versions.map(({ version, updatedAt, change, bytes, writer }) => [
            String(version),
            relativeTime(updatedAt),
            change,
            String(bytes),
            writerInWords(writer),
          ]),
        ),
      );
    }),
  );

  verb(
    "log",
    "list what was changed, newest first",
    "postern workspace log",
    "postern workspace log --path /plan.md",
    "postern workspace log --turn 0197f5c2-…",
  )
    .option("--path <path>", "only changes of this file")
    .option("--turn <turn_id>", "only what this turn changed")
    .option("--limit <count>", "how many, up to 200", parseNumber, 20)
    .action(({ user, json = false, ...query }: Options & { path?: string; turn?: string; limit: number }) =>
      withWorkspace(async (workspace) => {
        const { items, next } = await workspace.log(user, query);
        if (json) return sayJson({ changes: items.map(wireSet), next: next ?? null });
        if (items.length === 0) say("Nothing was changed yet.\n");
        for (const set of items) say(setInWords(set));
      }),
    );

  verb(
    "diff <path>",
    "show what changed between two versions of a text file; the present one and the one before, unless told otherwise",
    "postern workspace diff /plan.md",
    "postern workspace diff /plan.md --from 1 --to 3",
  )
    .option("--from <version>", "the earlier version", parseNumber)
    .option("--to <version>", "the later version", parseNumber)
    .action((path: string, { user, json = false, from, to }: Options & { from?: number; to?: number }) =>
      withWorkspace(async (workspace) => {
        const versions = await workspace.versions(user, path);
        const later = to ?? versions[0]?.version ?? missing(path, user);
        const earlier = from ?? versions.find(({ version }) => version < later)?.version ?? 0;
        const [before, after] = await Promise.all(
          [earlier, later].map((version) => textAt(workspace, user, path, version, versions)),
        );
        const patch =
          createTwoFilesPatch(
            path,
            path,
            before ?? "",
            after ?? "",
            `version ${earlier}`,
            `version ${later}`,
            {
              timeout: DIFF_TIMEOUT_MS,
            },
          ) ?? `The two versions of ${path} differ too much to be compared line by line.\n`;
        if (json) sayJson({ path, from: earlier, to: later, diff: patch });
        else (process.stdout.isTTY ? say : sayPainted)(patch);
      }),
    );

  verb(
    "undo <change>",
    "take back a change, as log names it; an undo is a change that can be undone, too",
    "postern workspace undo 0197f5c2-…",
    "postern workspace undo 0197f5c2-… --skip",
  )
    .option("--overwrite", "also take back files that somebody changed since")
    .option("--skip", "leave files alone that somebody changed since")
    .action(
      (
        change: string,
        { user, json = false, overwrite, skip }: Options & { overwrite?: boolean; skip?: boolean },
      ) =>
        withWorkspace(async (workspace) => {
          if (overwrite && skip) throw usage("use --overwrite or --skip, not both");
          const way = overwrite ? "overwrite" : skip ? "skip" : undefined;
          const found = await findByPrefix(change, {
            what: "change",
            find: async (id) => (/^[\da-f-]{36}$/.test(id) ? { id } : undefined),
            list: (before) => workspace.log(user, { limit: 200, before }),
          });
          const outcome = await workspace.undo(user, found?.id ?? change, CHANGE, way);
          if (outcome.set === undefined && outcome.conflicts.length > 0) throw inTheWay(outcome);
          if (json)
            sayJson({ change: outcome.set ? wireSet(outcome.set) : null, conflicts: outcome.conflicts });
          else if (outcome.set === undefined) say("There was nothing to take back.\n");
          else say(`Undone:\n${setInWords(outcome.set)}`);
        }),
    );

  verb(
    "restore <path>",
    "make an earlier version of a file the present one, also of a removed file",
    "postern workspace restore /plan.md --version 2",
  )
    .requiredOption("--version <version>", "versions lists them", parseNumber)
    .action((path: string, { user, json = false, version }: Options & { version: number }) =>
      withWorkspace(async (workspace) => {
        const entry = await workspace.restore(user, path, version, CHANGE);
        if (json) sayJson(wireEntry(entry));
        else say(`Restored ${entry.path}: version ${version} is version ${entry.version} now.\n`);
      }),
    );

  verb("usage", "show how much of the quota is used", "postern workspace usage --user ann").action(
    ({ user, json = false }: Options) =>
      withWorkspace(async (workspace) => {
        const { bytes, maxBytes, files, maxFiles } = await workspace.usage(user);
        if (json) return sayJson({ bytes, max_bytes: maxBytes, files, max_files: maxFiles });
        const inMb = (count: number) =>
          `${(count / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;
        say(
          `${inMb(bytes)} of ${inMb(maxBytes)} (WORKSPACE_MAX_MB), versions of the last 30 days included; ${files.toLocaleString("en")} of ${maxFiles.toLocaleString("en")} files.\n`,
        );
      }),
  );

  withExamples(
    group
      .command("mount <directory>")
      .description("show a folder of this machine in the workspace")
      .requiredOption("--as <name>", "what it is called at the top of the workspace")
      .option("--writable", "files in it can be changed; without it they can only be read")
      .option("--user <user_id>", "for this user; for the operator only, unless told otherwise")
      .option("--everybody", "for every user"),
    [
      "postern workspace mount ~/notes --as notes",
      "postern workspace mount ~/photos --as photos --writable --user ann",
    ],
  ).action((folder: string, options: MountOptions & { as: string; writable?: boolean }) =>
    withWorkspace(async (workspace) => {
      const mount = await workspace.mount({
        name: options.as,
        folder: resolve(context.folder, folder.replace(/^~(?=\/|$)/, homedir())),
        isWritable: options.writable,
        ...ownerOf(options),
      });
      if (options.json) sayJson(wireMount(mount));
      else
        say(
          `Mounted ${mount.folder} as /${mount.name} for ${mount.user ?? "everybody"}, ${mount.isReadOnly ? "read-only" : "writable"}.\n`,
        );
    }),
  );

  withExamples(
    group
      .command("unmount <name>")
      .description("show a mounted folder no longer; nothing in it is touched")
      .option("--user <user_id>", "the one that was mounted for this user, not the operator's")
      .option("--everybody", "the one that was mounted for everybody"),
    ["postern workspace unmount notes", "postern workspace unmount notes --everybody"],
  ).action((name: string, { json = false, ...options }: MountOptions) =>
    withWorkspace(async (workspace) => {
      if (!(await workspace.unmount(name, ownerOf(options))))
        throw new Fault(
          "missing",
          "workspace_not_found",
          `no folder is mounted as ${name} for ${options.everybody ? "everybody" : (options.user ?? OPERATOR)}; "postern workspace mounts" lists them`,
        );
      if (json) sayJson({ unmounted: name });
      else say(`Unmounted ${name}.\n`);
    }),
  );

  withExamples(group.command("mounts").description("list mounted folders"), [
    "postern workspace mounts",
  ]).action(({ json = false }: { json?: boolean }) =>
    withWorkspace(async (workspace) => {
      const mounts = await workspace.mounts();
      if (json) return sayJson({ mounts: mounts.map(wireMount) });
      if (mounts.length === 0) say("No folder is mounted.\n");
      else
        say(
          table(
            ["NAME", "FOLDER", "MACHINE", "FOR", "ACCESS"],
            mounts.map(({ name, folder, machine, user, isReadOnly, problem }) => [
              name,
              folder,
              machine,
              user ?? "everybody",
              problem !== undefined ? `none: ${problem}` : isReadOnly ? "read" : "read and write",
            ]),
          ),
        );
    }),
  );
}

function ownerOf({ user, everybody }: MountOptions): MountOwner {
  if (user !== undefined && everybody) throw usage("use --user or --everybody, not both");
  return { user, isEverybodys: everybody };
}

async function listAll(
  workspace: Workspace,
  user: string,
  folder: string,
  deep: boolean,
): Promise<readonly WorkspaceEntry[]> {
  const entries: WorkspaceEntry[] = [];
  for (let after: string | undefined; ; ) {
    const page = await workspace.list(user, folder, { deep, ...(after !== undefined && { after }) });
    entries.push(...page.items);
    after = page.next;
    if (after === undefined) return entries;
  }
}

const WAYS: Readonly<Record<Writer["kind"], string>> = {
  page: "on the page",
  api: "with a token",
  cli: "on the command line",
  model: "the model",
  tool: "a tool",
  outside: "outside of Postern",
};

function writerInWords({ kind, tool, thread }: Writer): string {
  const who = tool === undefined ? WAYS[kind] : `the tool ${tool}`;
  return thread === undefined ? who : `${who}, in thread ${thread}`;
}

function setInWords({ id, at, writer, undoes, undoneBy, changes, isCut }: ChangeSet): string {
  const about = [
    writerInWords(writer),
    undoes && `undid ${shortId(undoes)}`,
    undoneBy && `undone by ${shortId(undoneBy)}`,
  ];
  const lines = changes.map(
    ({ path, change, to, isFolder }) => `  ${change} ${path}${isFolder ? "/" : ""}${to ? ` to ${to}` : ""}`,
  );
  return `${shortId(id)}  ${relativeTime(at)}  ${about.filter(Boolean).join("; ")}\n${lines.join("\n")}${isCut ? "\n  and more" : ""}\n`;
}

function inTheWay({ conflicts }: UndoOutcome): Fault {
  const named = conflicts
    .map(({ path, by, at }) => `  ${path} (${writerInWords(by)}, ${relativeTime(at)})`)
    .join("\n");
  return new Fault(
    "invalid",
    "workspace_changed",
    `nothing was undone, for these files were changed since:\n${named}\nUse --overwrite to take them back as well, or --skip to leave them alone.`,
  );
}

async function textAt(
  workspace: Workspace,
  user: string,
  path: string,
  version: number,
  versions: readonly WorkspaceVersion[],
): Promise<string> {
  const known = versions.find((each) => each.version === version);
  // Before there was a file, and after it was removed, there is no text.
  if (version === 0 || (known !== undefined && known.bytes === 0)) return "";
  const found = (await workspace.stream(user, path, version)) ?? missing(path, user, version);
  if (!isTextual(found.entry.mime))
    throw new Fault(
      "invalid",
      "not_text",
      `${path} is ${found.entry.mime}, which is not compared line by line`,
    );
  return await textOf(found.data);
}

async function textOf(data: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(data)).toString();
}

/** `postern workspace cat … | head`: a reader that has seen enough is no error. */
function unlessReaderLeft(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
}

function placeOf(folder: string, file: string, path: string): string {
  const target = resolve(folder, file.replace(/^~(?=\/|$)/, homedir()));
  return existsSync(target) && statSync(target).isDirectory() ? join(target, basename(path)) : target;
}

async function copyTo({ data }: FileStream, target: string, replace: boolean): Promise<void> {
  try {
    await pipeline(data, createWriteStream(target, { flags: replace ? "w" : "wx" }));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw usage(`${target} cannot be written: ${reason(error)}`);
  }
}

async function* readPiped(): AsyncGenerator<Uint8Array> {
  for await (const chunk of process.stdin) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

async function* readFrom(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: 1 << 20 });
  } catch (error) {
    throw usage(`${file} cannot be read: ${reason(error)}`);
  }
}

const usage = (message: string): Fault => new Fault("invalid", "file_unreadable", message, { usage: true });

function missing(path: string, user: string, version?: number): never {
  throw new Fault(
    "missing",
    "workspace_not_found",
    version === undefined
      ? `${user} has no file ${path} in the workspace; "postern workspace ls --deep --user ${user}" shows what there is`
      : `${user} has no version ${version} of ${path}; "postern workspace versions ${path} --user ${user}" shows what there is`,
  );
}

function parseNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Use a whole number.");
  return Number(text);
}

function wireEntry({ updatedAt, isReadOnly, ...entry }: WorkspaceEntry) {
  return { ...entry, updated_at: updatedAt, read_only: isReadOnly === true };
}

function wireVersion({ updatedAt, ...version }: WorkspaceVersion) {
  return { ...version, updated_at: updatedAt };
}

function wireSet({ undoneBy, isCut, changes, ...set }: ChangeSet) {
  return {
    ...set,
    undone_by: undoneBy,
    changes: changes.map(({ isFolder, ...change }) => ({ ...change, folder: isFolder })),
    cut: isCut,
  };
}

function wireMount({ name, folder, machine, user, isReadOnly, problem }: Mount) {
  return { name, folder, machine, user: user ?? null, read_only: isReadOnly, problem: problem ?? null };
}
