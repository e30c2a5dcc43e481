/** Finds faults of a home that can be fixed without asking: it is missing, open to others, or holds leftovers of a crash. */
import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isClaimed } from "../../files/claim.ts";
import { makeFolders } from "../../files/folders.ts";
import { findForeign, findLoose, makePrivate, pathsOfHome } from "../../files/ownership.ts";
import type { Finding } from "../../plugin.ts";

/** A command may be at work beside us: what it uses is younger. */
const OLD_MS = 3_600_000;

/** Folders that commands make for a while, and backups that never became whole. Names that nobody chooses. */
const LEFTOVER = /^\.(?:files|flush|postern)-[A-Za-z0-9]{6}$|\.partial(?:-wal|-shm|-journal)?$/;

export function examineFixable(home: string): readonly Finding[] {
  const stat = lstatSync(home, { throwIfNoEntry: false });
  if (stat === undefined)
    return [
      {
        name: "home folder",
        ok: true,
        detail: `${home} does not exist yet`,
        fix: { about: `create ${home}`, apply: () => makeFolders(home, 0o700) },
      },
    ];
  const paths = pathsOfHome(home);
  if (!stat.isDirectory() || findForeign(paths).length > 0) return [];
  return [...findOpen(paths), ...findStaleNotice(home), ...findLeftovers(home)];
}

function findOpen(paths: readonly string[]): readonly Finding[] {
  return findLoose(paths).map((path) => ({
    name: "home permissions",
    ok: false,
    detail: `${path} can be read or changed by others: the next start corrects it, or run "chmod go-rwx ${path}"`,
    // Together with its folder, which is judged first and by other rules.
    fix: {
      about: `close ${path} to others`,
      apply: () => void makePrivate([...paths.slice(0, 1), path], "POSTERN_HOME"),
    },
  }));
}

function findStaleNotice(home: string): readonly Finding[] {
  const file = join(home, "running.json");
  if (!existsSync(file) || isClaimed(home)) return [];
  const detail = `${file} is left from a service that was killed; the next start removes it`;
  const apply = () => {
    if (!isClaimed(home)) rmSync(file, { force: true });
  };
  return [{ name: "running.json", ok: true, warning: true, detail, fix: { about: `remove ${file}`, apply } }];
}

function findLeftovers(home: string): readonly Finding[] {
  return readdirSync(home)
    .filter((name) => LEFTOVER.test(name))
    .map((name) => join(home, name))
    .filter((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat !== undefined && !stat.isSymbolicLink() && Date.now() - stat.mtimeMs > OLD_MS;
    })
    .map((path) => ({
      name: "leftover",
      ok: true,
      warning: true,
      detail: `${path} is left from a command that was interrupted`,
      fix: { about: `remove ${path}`, apply: () => rmSync(path, { recursive: true, force: true }) },
    }));
}
