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
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../../kernel/plugin.ts";
import { isBackupFile } from "./backup-files.ts";

export interface BackupNote {
  readonly madeAt: string;
  readonly version: string;
  /** Says whether two keys are the same, and nothing else about them. */
  readonly keyMark: string;
}

interface KeptFile {
  readonly path: string;
  readonly body: Uint8Array;
}

/**
 * What belongs to the home of the machine it is on: the store, which is copied row by row; keys and tokens, which open what
 * the backup holds; and what is made again. On some disks a name in other letters is the same.
 */
const STAYS =
  /^(?:store\.sqlite.*|secrets\.key.*|webui-token|\.env|running\.(?:lock.*|json)|cache|logs|backups|\.files-.*)$/i;

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
  return look(file, (database) => {
    const [check] = database.prepare("PRAGMA integrity_check(1)").all();
    if (check?.["integrity_check"] !== "ok") throw new Error(`it is damaged (${check?.["integrity_check"]})`);
    for (const { path, sha256, body } of database
      .prepare("SELECT path, sha256, body FROM backup_files")
      .iterate())
      if (digest(body as Uint8Array) !== sha256) throw new Error(`its ${path} is damaged`);
  });
}

/** Throws where the file cannot be opened or was not finished: of one that was read before. */
export function openNote(file: string): BackupNote {
  return look(file, () => {});
}

function look(file: string, check: (database: DatabaseSync) => void): BackupNote {
  const broken = (why: string) =>
    new Fault("invalid", "bad_backup", `${file} is not a usable backup: ${why}`, {
      param: file,
      usage: true,
    });
  if (!existsSync(file)) throw broken("there is no such file");
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    check(database);
    const note = database.prepare("SELECT made_at, version, key_mark FROM backup_note").get();
    if (note === undefined) throw new Error("it was not finished");
    return {
      madeAt: String(note["made_at"]),
      version: String(note["version"]),
      keyMark: String(note["key_mark"]),
    };
  } catch (error) {
    throw broken(error instanceof Error ? error.message : String(error));
  }
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
    const { path, body } = row as unknown as KeptFile;
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
  const inside = relative(home, place);
  const [top = ""] = inside.split(sep);
  if (top === "" || top === ".." || STAYS.test(top))
    throw new Fault(
      "invalid",
      "bad_backup",
      `the backup names a file outside of what it may restore: ${path}`,
    );
  return place;
}

function filesOf(home: string, below = ""): readonly string[] {
  if (!existsSync(join(home, below))) return [];
  return readdirSync(join(home, below)).flatMap((name) => {
    if ((below === "" && STAYS.test(name)) || isBackupFile(name)) return [];
    const path = join(below, name);
    const stat = lstatSync(join(home, path));
    if (stat.isDirectory()) return filesOf(home, path);
    return stat.isFile() ? [path] : [];
  });
}

const digest = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");
