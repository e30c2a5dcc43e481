/** `postern store copy|backup|restore|prune`. */
import { closeSync, existsSync, mkdtempSync, openSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { findRunning, prepareHome } from "../../../kernel/kit/operations.ts";
import { openStatusLine, say, sayJson, table } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import { readStoreSettings } from "../config/settings.ts";
import { addFiles, noteBackup, readBackup, readNote, restoreFiles } from "../copy/backup.ts";
import { ownPlace, placeOfFile, placeOfUrl, type StoreLocation } from "../copy/place.ts";
import type { Digest } from "../copy/side.ts";
import { transfer } from "../copy/transfer.ts";
import { deriveKey } from "../keys/ring.ts";
import { survey } from "../keys/rotation.ts";
import { loadKeys } from "../keys/secrets-key.ts";
import { registerPrune } from "./prune.ts";

interface Options {
  readonly replace?: boolean;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

export function register(group: Command, context: CommandContext): void {
  const { home } = context;
  const config = () => context.settingsOf("store", readStoreSettings);
  const move = async (
    from: StoreLocation,
    to: StoreLocation,
    replace: boolean,
  ): Promise<readonly Digest[]> => {
    prepareHome(home);
    const secretsKey = await loadKeys(home, config().secretsKey);
    const { show, end } = openStatusLine();
    const number = (count: number) => count.toLocaleString("en");
    const progress = (table: string, done: number, of: number) =>
      show(`${table}: ${number(done)} of ${number(of)}`);
    try {
      return await transfer(from, to, { owned: await context.tables(), secretsKey, replace, progress });
    } finally {
      end();
    }
  };
  /** True when the backup has values that only its own key opens. */
  const holdsSecrets = async (file: string): Promise<boolean> => {
    const keys = await loadKeys(home, config().secretsKey);
    const owned = await context.tables();
    const counts = await readBackup(file, (queries) => survey(queries, owned, keys));
    return counts.some(({ unreadable }) => unreadable.length > 0);
  };
  /** A start on the same files would write to what is being replaced. */
  const refuseRunning = (on = home): void => {
    const running = findRunning(on);
    if (running === undefined) return;
    const message = `the service runs on ${on} (pid ${running.pid}): stop it first`;
    throw new Fault("unavailable", "store_in_use", message);
  };

  registerPrune(group, context);
  group
    .command("copy")
    .description("copy a whole store to another place, on the same or the other engine")
    .argument("<from-url>", "sqlite://<file> or postgres://<user>:<password>@<host>/<database>")
    .argument("<to-url>", "the same")
    .option("--replace", "take away what the target holds")
    .option("--verbose", "list the tables with their rows and digests")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nEvery table is read again and compared. Services may run on the source, but not on the target.\n\nExample:\n  $ postern store copy sqlite://$HOME/.postern/store.sqlite postgres://postern:secret@db/postern",
    )
    .action(async (from: string, to: string, { replace = false, ...output }: Options) => {
      const [source, target] = [placeOfUrl(from), placeOfUrl(to)];
      if (source.name === target.name)
        throw new Fault("invalid", "same_store", "the two URLs name the same store", { usage: true });
      if (target.name === ownPlace(config(), home).name) refuseRunning();
      // Another home's own store.
      else if (target.home !== undefined) refuseRunning(target.home);
      report(await move(source, target, replace), output, `Copied ${source.name} to ${target.name}.`);
    });

  group
    .command("backup")
    .description("write the store, tools, skills and identity files to one file")
    .argument("<file>")
    .option("--replace", "replace the file if it is there")
    .option("--verbose", "list the tables with their rows and digests")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nSecrets are in it as they are stored: sealed. Keep secrets.key (or POSTERN_SECRETS_KEY) somewhere else, they are of no use without it.\nThe service may run meanwhile.\n\nExample:\n  $ postern store backup postern-2026-11-15.backup",
    )
    .action(async (given: string, { replace = false, ...output }: Options) => {
      const file = resolve(context.folder, given);
      if (!replace && existsSync(file))
        throw new Fault("invalid", "file_exists", `${file} is there already: use --replace`, { usage: true });
      // Under its own name only when it is whole.
      const aside = `${file}.partial`;
      const leftovers = ["", "-wal", "-shm", "-journal"].map((end) => `${aside}${end}`);
      for (const path of leftovers) rmSync(path, { force: true });
      try {
        closeSync(openSync(aside, "w", 0o600));
        const own = ownPlace(config(), home);
        const [keyMark = ""] = await marksOf(home, config().secretsKey);
        const note = { madeAt: new Date().toISOString(), version: context.version, keyMark };
        const { digests, files } = await withHome(own, home, async (filesIn) => {
          const digests = await move(own, placeOfFile(aside, filesIn), false);
          return { digests, files: addFiles(aside, filesIn, note) };
        });
        readNote(aside);
        renameSync(aside, file);
        noteBackup(home, { file, madeAt: note.madeAt });
        report(digests, output, `Wrote ${file}, with ${files} files of the home.`, { file, files });
      } finally {
        for (const path of leftovers) rmSync(path, { force: true });
      }
    });

  group
    .command("restore")
    .description("bring back what a backup holds")
    .argument("<file>")
    .option("--replace", "take away what the store holds, and replace files that differ")
    .option("--verbose", "list the tables with their rows and digests")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nInto the store that STORE_URL names, or the home's own. Stop the service first.\n\nExample:\n  $ postern store restore postern-2026-11-15.backup",
    )
    .action(async (given: string, { replace = false, ...output }: Options) => {
      const file = resolve(context.folder, given);
      const note = readNote(file);
      prepareHome(home);
      refuseRunning();
      const isOwnKey = (await marksOf(home, config().secretsKey)).includes(note.keyMark);
      if (!isOwnKey && (await holdsSecrets(file))) {
        const message = `the secrets in ${file} were sealed under another key: put the secrets.key of that time into ${home}, or set POSTERN_SECRETS_KEY`;
        throw new Fault("config", "backup_other_key", message, { param: "POSTERN_SECRETS_KEY" });
      }
      const own = ownPlace(config(), home);
      const { digests, restored, kept } = await withHome(own, home, async (filesIn) => {
        // On PostgreSQL files become rows and go there with the rows; otherwise only when the rows are in place.
        const early = own.engine === "postgres" ? restoreFiles(file, filesIn, true) : undefined;
        const digests = await move(placeOfFile(file, filesIn), own, replace);
        return { digests, ...(early ?? restoreFiles(file, home, replace)) };
      });
      const differing = kept.length === 0 ? "" : ` These differ and were left alone: ${kept.join(", ")}.`;
      const otherKey = isOwnKey
        ? ""
        : " It was made under another secrets.key, and holds nothing that is sealed. Webhook integrations get new secrets.";
      const words = `Restored ${file} of ${note.madeAt} (Postern ${note.version}), with ${restored} files of the home.${differing}${otherKey}`;
      report(digests, output, words, { file, files: restored, kept });
    });
}

/** The home, or a folder that stands in for it where the store keeps in tables what a home has in files. */
async function withHome<Result>(
  { engine }: StoreLocation,
  home: string,
  work: (home: string) => Promise<Result>,
): Promise<Result> {
  if (engine === "sqlite") return work(home);
  const aside = mkdtempSync(join(home, ".files-"));
  try {
    return await work(aside);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

async function marksOf(home: string, configured: string | undefined): Promise<readonly string[]> {
  const keys = (await loadKeys(home, configured)).all();
  return keys.map((key) => Buffer.from(deriveKey(key, "backup mark")).toString("base64"));
}

function report(
  digests: readonly Digest[],
  { verbose = false, json = false }: Options,
  words: string,
  more: object = {},
): void {
  if (json) {
    sayJson({ ...more, tables: digests });
    return;
  }
  const listed = digests.map(({ table, rows, sha256 }) => [table, String(rows), sha256.slice(0, 16)]);
  if (verbose) say(table(["TABLE", "ROWS", "SHA-256"], listed, { indent: "  " }));
  const rows = digests.reduce((sum, one) => sum + one.rows, 0).toLocaleString("en");
  say(`${words} All ${rows} rows were read again and are the same.\n`);
}
