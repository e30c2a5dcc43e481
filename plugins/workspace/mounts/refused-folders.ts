/** Folders that are never mounted: the service's own home, those with its store or backups, and those of the system. */
import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

const SYSTEM =
  "/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /run /sbin /sys /usr /var /Library /System".split(
    " ",
  );
/** What lies in system folders but is people's: homes, removable disks, temporary folders. */
const PEOPLES = ["/dev/shm", "/run/media", "/usr/home", "/var/home", "/var/tmp", "/private/var/folders"];

const system = SYSTEM.map(lineOf);
const peoples = PEOPLES.map(lineOf);

/** Says why a folder is not mounted; undefined if it may be. `places`: the store's file, and where backups go. */
export function refuseFolder(
  folder: string,
  home: string,
  places: readonly string[] = [],
): string | undefined {
  const line = lineOf(folder);
  const [id] = line;
  const isAt = (other: readonly string[]) => id !== undefined && other.includes(id);
  const liesIn = ([other]: readonly string[]) => other !== undefined && line.includes(other);
  const isOrMeets = (other: readonly string[]) => isAt(other) || liesIn(other);
  if (isOrMeets(lineOf(home)))
    return "it is, contains or lies in the service's home, which holds its secrets and settings";
  if (places.map(lineOf).some(isOrMeets)) return "the service's store or its backups are in it";
  if (system.some(isAt) || (system.some(liesIn) && !peoples.some(liesIn)))
    return "it is, contains or lies in a system folder";
  return undefined;
}

/** The folder and all that it lies in, as device and inode, so that links, other spellings and bind mounts are seen through. */
function lineOf(folder: string): readonly string[] {
  const ids: string[] = [];
  try {
    for (let at = realpathSync.native(folder); ; at = dirname(at)) {
      const { dev, ino } = statSync(at, { bigint: true });
      ids.push(`${dev}:${ino}`);
      if (at === dirname(at)) return ids;
    }
  } catch {
    return [];
  }
}
