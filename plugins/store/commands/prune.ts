/** `postern store prune`: says what is old, asks, deletes it in batches, and gives the space back. */
import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Command, InvalidArgumentError } from "commander";
import { findRunning } from "../../../kernel/kit/operations.ts";
import type { AgingRows, OwnedTables } from "../../../kernel/kit/store.ts";
import { agree, openStatusLine, say, sayJson, table } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, type Sql } from "../../../kernel/plugin.ts";
import { fileOf, readStoreSettings } from "../config/settings.ts";
import { ownPlace } from "../copy/place.ts";
import { countOld, type OldRows, pruneOld, type Which } from "../engine/old-rows.ts";
import type { OpenStore } from "../engine/open-store.ts";
import { loadKeys } from "../keys/secrets-key.ts";
import { bytesInWords } from "../maintenance/growth.ts";

interface Options {
  readonly olderThan: number;
  readonly kind?: readonly string[];
  readonly user?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface Found extends OldRows {
  readonly sql: Sql;
  readonly aging: AgingRows;
}

const DAY_MS = 86_400_000;
const SPARE_BYTES = 64 * 2 ** 20;
const PAGES_AT_ONCE = 500;

export function registerPrune(group: Command, context: CommandContext): void {
  group
    .command("prune")
    .description("delete old threads, jobs and receipts, and give their space back")
    .option("--older-than <days>", "untouched for so long, such as 90d", parseDays, 90)
    .option("--kind <kinds>", "only these, such as threads,receipts", (text: string) => text.split(","))
    .option("--user <user_id>", "only what belongs to this user")
    .option("--dry-run", "only say what would go")
    .option("--yes", "delete without being asked")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nPinned threads and those that wait for an answer stay. The service may run meanwhile; stop it for SQLite to make the file smaller.\n\nExamples:\n  $ postern store prune --dry-run\n  $ postern store prune --older-than 30d --kind threads --yes",
    )
    .action((options: Options) => prune(context, options));
}

async function prune(context: CommandContext, options: Options): Promise<void> {
  const config = context.settingsOf("store", readStoreSettings);
  const file = config.engine === "postgres" ? undefined : fileOf(config, context.home);
  if (file !== undefined && !existsSync(file))
    throw new Fault("invalid", "no_store", `there is no store ${file}`, { param: file, usage: true });
  const before = new Date(Date.now() - options.olderThan * DAY_MS).toISOString();
  const tables = await context.tables();
  const keys = await loadKeys(context.home, config.secretsKey);
  const store = await ownPlace(config, context.home).open(keys);
  const { found, removed } = await removeOld(store, tables, before, options);
  const isDone = Object.keys(removed).length > 0;
  const space = !isDone ? "" : file === undefined ? LEFT_TO_AUTOVACUUM : giveBack(file, context.home);
  if (options.json) sayJson({ before, found: found.map(asJson), removed, space });
  else if (isDone) say(`Deleted ${listed(removed)}. ${space}\n`);
  else if (found.some(({ rows }) => rows > 0)) say("Nothing was deleted (--dry-run).\n");
}

type Removed = Readonly<Record<string, number>>;

/** Closes the store when that is done: what it held can be given back only then. */
async function removeOld(
  opened: OpenStore,
  tables: readonly OwnedTables[],
  before: string,
  options: Options,
): Promise<{ readonly found: readonly Found[]; readonly removed: Removed }> {
  await using store = opened;
  const which = { before, user: options.user };
  const found = await findOld(store, tables, which, options.kind);
  const rows = found.reduce((sum, one) => sum + one.rows, 0);
  if (!options.json) say(inWords(found, before));
  if (options.dryRun || rows === 0) return { found, removed: {} };
  await agree(`Delete ${rows.toLocaleString("en")} rows for good?`, options);
  return { found, removed: await removeAll(found, which) };
}

async function findOld(
  store: OpenStore,
  tables: readonly OwnedTables[],
  which: Which,
  kinds: readonly string[] | undefined,
): Promise<readonly Found[]> {
  const agings = tables.flatMap(({ ages = [] }) => ages);
  const known = agings.map(({ kind }) => kind);
  const unknown = kinds?.find((kind) => !known.includes(kind));
  if (unknown !== undefined) {
    const message = `there is no kind "${unknown}": use ${known.join(", ")}`;
    throw new Fault("invalid", "unknown_kind", message, { usage: true });
  }
  // The rows of one owner may depend on those of another, so all tables have to be there.
  for (const { owner, migrations } of tables) await store.tables(owner, migrations);
  const sql = await store.tables("prune", []);
  const found: Found[] = [];
  for (const aging of agings)
    if (kinds?.includes(aging.kind) !== false)
      found.push({ ...(await countOld(sql, aging, which)), sql, aging });
  return found;
}

const LEFT_TO_AUTOVACUUM =
  "PostgreSQL's autovacuum makes the space usable again; VACUUM FULL gives it back to the disk.";

async function removeAll(found: readonly Found[], which: Which): Promise<Removed> {
  const { show, end } = openStatusLine();
  const removed: Record<string, number> = {};
  try {
    for (const { sql, aging, rows } of found)
      removed[aging.kind] = await pruneOld(sql, aging, which, {
        progress: (done) =>
          show(`${aging.kind}: ${done.toLocaleString("en")} of ${rows.toLocaleString("en")}`),
      });
  } finally {
    end();
  }
  return removed;
}

/** A file that was made smaller once can be made smaller bit by bit from then on, also while the service runs. */
function giveBack(file: string, home: string): string {
  using database = new DatabaseSync(file, { timeout: 5000 });
  const number = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const free = () => number("freelist_count") * number("page_size");
  const before = free();
  if (before === 0) return "There is no free space in the file to give back.";
  const rest = `${bytesInWords(before)} inside the file are free for new rows`;
  if (number("auto_vacuum") === 2) {
    for (let left = number("freelist_count"), last = left + 1; left > 0 && left < last; ) {
      database.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
      [last, left] = [left, number("freelist_count")];
    }
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    return `${bytesInWords(before - free())} were given back to the disk.`;
  }
  if (findRunning(home) !== undefined)
    return `${rest}. To give them back to the disk, stop the service and run this again.`;
  const { bavail, bsize } = statfsSync(dirname(file));
  // The new file is written to the log first, and then over the old one.
  const needed = 2 * statSync(file).size + SPARE_BYTES;
  if (bavail * bsize < needed)
    return `${rest}. Giving them back needs ${bytesInWords(needed)} of free disk for a while, and there are ${bytesInWords(bavail * bsize)}.`;
  database.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  return `${bytesInWords(before)} were given back to the disk.`;
}

const asJson = ({ aging: { kind }, rows, bytes, oldest, newest }: Found) => ({
  kind,
  rows,
  bytes,
  oldest,
  newest,
});

function inWords(found: readonly Found[], before: string): string {
  const old = found.filter(({ rows }) => rows > 0);
  const day = before.slice(0, 10);
  if (old.length === 0) return `Nothing is older than ${day}.\n`;
  const lines = old.map(({ aging, rows, bytes, oldest, newest }) => [
    aging.kind,
    String(rows),
    bytesInWords(bytes),
    (oldest ?? "").slice(0, 10),
    (newest ?? "").slice(0, 10),
  ]);
  return `Older than ${day}:\n${table(["KIND", "ROWS", "ABOUT", "OLDEST", "NEWEST"], lines, { indent: "  " })}`;
}

const listed = (removed: Removed) =>
  Object.entries(removed)
    .filter(([, rows]) => rows > 0)
    .map(([kind, rows]) => `${rows.toLocaleString("en")} ${kind}`)
    .join(", ");

function parseDays(text: string): number {
  const [, days] = /^(\d{1,5})d?$/.exec(text) ?? [];
  if (days === undefined || Number(days) < 1) throw new InvalidArgumentError("Use days, such as 90d.");
  return Number(days);
}
