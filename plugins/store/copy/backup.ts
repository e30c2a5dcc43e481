/** One file that holds a whole Postern: a SQLite store with every row, and the home's files in a table beside them. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import { Fault, type Queries, reason } from "../../../kernel/plugin.ts";

interface BackupNote {
  readonly madeAt: string;
  readonly version: string;
  /** Says whether two keys are the same, and nothing else about them. */
  readonly keyMark: string;
}

/** These belong to the machine's home: the store, keys and tokens, and what is made again. Some disks ignore case. */
const STAYS =
  /^(?:store\.sqlite.*|secrets\.key.*|webui-token|\.env|running\.(?:lock.*|json)|cache|logs|backups|\.files-.*)$/i;

/** Scheduled backups have names of their own, by which old ones are found. */
const NAME = /^postern-\d{8}T\d{6}Z\.backup$/;
const UNFINISHED = /^postern-\d{8}T\d{6}Z\.backup\.partial(?:-wal|-shm|-journal)?$/;

export const backupName = (now: number): string =>
  `postern-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z.backup`;

const TABLES = `
  CREATE TABLE backup_note (made_at TEXT NOT NULL, version TEXT NOT NULL, key_mark TEXT NOT NULL) STRICT;
  CREATE TABLE backup_files (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL, body BLOB NOT NULL) STRICT;`;

/** Adds the home's files and the note to a store that has all rows already. */
export function addFiles(file: string, home: string, note: BackupNote): number {
  using database = new DatabaseSync(file);
  database.exec(`PRAGMA synchronous = FULL; BEGIN; ${TABLES}`);
  database.prepare("INSERT INTO backup_note VALUES (?, ?, ?)").run(note.madeAt, note.version, note.keyMark);
  const insert = database.prepare("INSERT INTO backup_files VALUES (?, ?, ?)");
  let count = 0;
  for (const path of filesOf(home)) {
    const body = readFileSync(join(home, path));
    insert.run(path, digest(body), body);
    count++;
  }
  // One file, with nothing beside it that could be forgotten.
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
  return count;
}

/** Throws where the file is not a whole backup: reads all of it. */
export function readNote(file: string): BackupNote {
  return openNote(file, (database) => {
    const check = database.prepare("PRAGMA integrity_check(1)").get()?.["integrity_check"];
    if (check !== "ok") throw new Error(`it is damaged (${check})`);
    const files = database.prepare("SELECT path, sha256, body FROM backup_files");
    for (const { path, sha256, body } of files.iterate())
      if (digest(body as Uint8Array) !== sha256) throw new Error(`its ${path} is damaged`);
  });
}

/** Throws where the file cannot be opened, was not finished, or does not pass the check. */
export function openNote(file: string, check?: (database: DatabaseSync) => void): BackupNote {
  try {
    if (!existsSync(file)) throw new Error("there is no such file");
    using database = new DatabaseSync(file, { readOnly: true });
    check?.(database);
    const note = database.prepare("SELECT made_at, version, key_mark FROM backup_note").get();
    if (note === undefined) throw new Error("it was not finished");
    return {
      madeAt: String(note["made_at"]),
      version: String(note["version"]),
      keyMark: String(note["key_mark"]),
    };
  } catch (error) {
    const message = `${file} is not a usable backup: ${reason(error)}`;
    throw new Fault("invalid", "bad_backup", message, { param: file, usage: true });
  }
}

/** Reads rows of a backup; a table that is not there has none. */
export async function readBackup<Result>(
  file: string,
  read: (queries: Pick<Queries, "all">) => Promise<Result>,
): Promise<Result> {
  using database = new DatabaseSync(file, { readOnly: true });
  const tables = new Set(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  );
  const all = async <Row>(query: string, ...values: readonly SqlValue[]): Promise<Row[]> => {
    const [, table] = /\bFROM (\w+)/.exec(query) ?? [];
    return tables.has(table ?? "") ? (database.prepare(query).all(...values) as Row[]) : [];
  };
  return await read({ all });
}

/** Puts the files back. One that is there already and differs is replaced only where that was asked for. */
export function restoreFiles(
  file: string,
  home: string,
  replace: boolean,
): { restored: number; kept: string[] } {
  using database = new DatabaseSync(file, { readOnly: true });
  const kept: string[] = [];
  let restored = 0;
  for (const row of database.prepare("SELECT path, body FROM backup_files ORDER BY path").iterate()) {
    const { path, body } = row as { path: string; body: Uint8Array };
    const place = placeOf(home, path);
    if (!replace && existsSync(place) && digest(readFileSync(place)) !== digest(body)) {
      kept.push(path);
      continue;
    }
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    // Beside it and renamed: a file is the old one or the new one, whenever the power goes.
    writeFileSync(`${place}.restored`, body, { mode: 0o600, flush: true });
    chmodSync(`${place}.restored`, 0o600);
    renameSync(`${place}.restored`, place);
    restored++;
  }
  return { restored, kept };
}

/** Below the home, wherever a file that somebody made says. */
function placeOf(home: string, path: string): string {
  const place = join(home, path);
  const [top = ""] = relative(home, place).split(sep);
  if (top !== "" && top !== ".." && !STAYS.test(top)) return place;
  const message = `the backup names a file outside of what it may restore: ${path}`;
  throw new Fault("invalid", "bad_backup", message);
}

function filesOf(home: string, below = ""): readonly string[] {
  if (!existsSync(join(home, below))) return [];
  return readdirSync(join(home, below)).flatMap((name) => {
    // A backup holds no backups, wherever in the home they are.
    if ((below === "" && STAYS.test(name)) || NAME.test(name) || UNFINISHED.test(name)) return [];
    const path = join(below, name);
    const stat = lstatSync(join(home, path));
    if (stat.isDirectory()) return filesOf(home, path);
    return stat.isFile() ? [path] : [];
  });
}

const digest = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");

/** Removes what a process that died left behind. */
export function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder))
    if (UNFINISHED.test(name)) rmSync(join(folder, name), { force: true });
}

/** Keeps the newest. What has another name is somebody else's. */
export function rotate(folder: string, keep: number): readonly string[] {
  const backups = readdirSync(folder).filter((name) => NAME.test(name));
  const old = backups.sort().slice(0, -keep);
  for (const name of old) rmSync(join(folder, name), { force: true });
  return old;
}

/** The last backup of a home, so that an upgrade can ask for one. */
interface LastBackup {
  readonly file: string;
  readonly madeAt: string;
}

const lastBackupIn = (home: string) => join(home, "last-backup.json");

export function noteBackup(home: string, backup: LastBackup): void {
  writeFileSync(lastBackupIn(home), JSON.stringify(backup), { mode: 0o600 });
}

export function readLastBackup(home: string): LastBackup | undefined {
  try {
    const { file, madeAt } = JSON.parse(readFileSync(lastBackupIn(home), "utf8")) as Partial<LastBackup>;
    return typeof file === "string" && typeof madeAt === "string" ? { file, madeAt } : undefined;
  } catch {
    return undefined;
  }
}
