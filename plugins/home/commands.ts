/** `postern home push|pull`: the operator's files between this home and the database that nodes share. */
import type { Command } from "commander";
import { type JsonOption, say, sayJson, verb } from "../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../kernel/plugin.ts";
import { isOperatorFile } from "./files.ts";
import { openFolderFiles } from "./folder.ts";
import { compare, type Difference, type Gathered, gather, writeToHome } from "./local-copy.ts";
import { readModels } from "./model-files.ts";
import { FILE_TABLES, openRowFiles, type RowFiles } from "./rows.ts";
import { createSkills } from "./skills/skills.ts";

interface CopyOptions extends JsonOption {
  readonly delete?: boolean;
  readonly dryRun?: boolean;
}

type Files = ReadonlyMap<string, string>;

const WHAT =
  "AGENTS.md, SOUL.md, IDENTITY.md, USER.md, models.json, models-fetched.json and skills/*/SKILL.md";

export function register(group: Command, context: CommandContext): void {
  const { home } = context;
  group.addHelpText(
    "after",
    `\nWith STORE_URL=postgres://… all nodes use the same ${WHAT}, which are in the database. With SQLite they are used as they are in the home.`,
  );

  copy("push", "send this home's files to the database, for every node", "home push --dry-run").action(
    (options: CopyOptions) =>
      withShared(context, async (shared) => {
        const own = await gather(home);
        const difference = compare(await shared.all(), own.files);
        await assertUsable(home, own);
        const { written, removed } = apply(difference, own.files, options);
        if (!options.dryRun && written.size + removed.length > 0) await shared.change(written, removed);
        report(difference, options, "in the database");
      }),
  );

  copy("pull", "write the files of the database into this home", "home pull").action((options: CopyOptions) =>
    withShared(context, async (shared) => {
      const theirs = new Map([...(await shared.all())].filter(([path]) => isOperatorFile(path)));
      const difference = compare((await gather(home)).files, theirs);
      const { written, removed } = apply(difference, theirs, options);
      if (!options.dryRun) writeToHome(home, written, removed);
      report(difference, options, `in ${home}`);
    }),
  );

  function copy(name: string, about: string, example: string): Command {
    return verb(group, name, about, example)
      .option("--delete", "also remove there what is not here")
      .option("--dry-run", "only show what would change");
  }
}

async function withShared(context: CommandContext, work: (shared: RowFiles) => Promise<void>): Promise<void> {
  await context.with(["store"], async ({ store }) => {
    const sql = await store.tables("home files", FILE_TABLES);
    if (sql.engine === "sqlite") {
      const message = `With SQLite there is one node, and it uses the files in ${context.home} as they are. This is for STORE_URL=postgres://…`;
      throw new Fault("invalid", "no_shared_files", message, { usage: true });
    }
    const shared = openRowFiles(sql, store.changes);
    try {
      await work(shared);
    } finally {
      shared.close();
    }
  });
}

/** Files that one node cannot use would stop or trouble all of them. */
async function assertUsable(home: string, { problems }: Gathered): Promise<void> {
  const files = openFolderFiles(home);
  await readModels(files);
  const skills = await createSkills(files).problems();
  const all = new Set([...problems, ...skills.map(({ folder, why }) => `skills/${folder}: ${why}`)]);
  if (all.size === 0) return;
  throw new Fault("invalid", "bad_files", `Nothing was sent. Fix this first:\n  ${[...all].join("\n  ")}`);
}

function apply({ added, changed, removed }: Difference, files: Files, options: CopyOptions) {
  const written = new Map([...added, ...changed].map((path) => [path, files.get(path) ?? ""]));
  return { written, removed: options.delete ? removed : [] };
}

function report({ added, changed, removed }: Difference, options: CopyOptions, where: string): void {
  const [gone, kept] = options.delete ? [removed, []] : [[], removed];
  if (options.json) {
    sayJson({ dry_run: options.dryRun ?? false, added, changed, removed: gone, kept });
    return;
  }
  const would = options.dryRun ? "would be " : "";
  const lines = [
    ...added.map((path) => `${path}: ${would}added`),
    ...changed.map((path) => `${path}: ${would}changed`),
    ...gone.map((path) => `${path}: ${would}removed`),
    ...kept.map((path) => `${path}: only ${where}, left there (--delete removes it)`),
  ];
  say(lines.length === 0 ? "Nothing to do: both are the same.\n" : `${lines.join("\n")}\n`);
}
