/** A path below a mount as the disk has it, which may keep the letters of a name in another form. */
import { cleanPath, foldPath } from "../path.ts";
import { isTaken, notFolder } from "../tree.ts";
import { type Directory, mountFault, openDirectory } from "./directory.ts";
import type { MountedPath } from "./mounts.ts";

/** The folder that a path is in, held open; with `make`, folders on the way are made. */
export async function openParent({ mount, parts }: MountedPath, make = false): Promise<Directory> {
  let directory: Directory;
  try {
    directory = await openDirectory(mount.folder);
  } catch (error) {
    throw mountFault(
      `The mounted folder ${mount.name} cannot be opened (${(error as NodeJS.ErrnoException).code}): is its disk there?`,
      error,
    );
  }
  for (const part of parts.slice(0, -1)) {
    const before = directory;
    try {
      const { name, found } = await nameOnDisk(before, part);
      if (found === undefined && make) {
        await assertFree(before, part);
        await before.make(name);
      } else if (found !== undefined && !found.isDirectory()) throw notFolder(part);
      directory = await before.enter(name);
    } finally {
      await before[Symbol.asyncDispose]();
    }
  }
  return directory;
}

/** The name as the disk has it: a disk may keep letters in another form. */
export async function nameOnDisk(directory: Directory, part: string) {
  const found = await directory.look(part);
  if (found !== undefined || /^[\x20-\x7e]*$/.test(part)) return { name: part, found };
  const { names } = await directory.names();
  const name = names.map((bytes) => bytes.toString()).find((each) => each.normalize("NFC") === part);
  return name === undefined ? { name: part, found } : { name, found: await directory.look(name) };
}

async function twinsOf(directory: Directory, name: string): Promise<readonly string[]> {
  const { names, isCut } = await directory.names();
  if (isCut) throw mountFault("There are too many files in that folder to change something in it.");
  const folded = foldPath(name.normalize("NFC"));
  return names
    .filter((bytes) => bytes.toString() !== name)
    .map(nameInWords)
    .filter((each) => foldPath(each) === folded);
}

/** In a folder with too many names to tell, a file can only be read as well. */
export const hasTwin = (directory: Directory, name: string): Promise<boolean> =>
  twinsOf(directory, name).then(
    (twins) => twins.length > 0,
    () => true,
  );

/** Refuses to change what another name differs from only by case or form. */
export async function assertFree(directory: Directory, name: string): Promise<void> {
  const [twin] = await twinsOf(directory, name);
  if (twin !== undefined) throw isTaken(twin);
}

/** Bytes that are no UTF-8 are shown as such. */
export function nameInWords(bytes: Buffer): string {
  const text = bytes.toString();
  if (Buffer.compare(Buffer.from(text), bytes) === 0) return text.normalize("NFC");
  return [...bytes]
    .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`))
    .join("");
}

export const isPlain = (bytes: Buffer, text: string): boolean =>
  bytes.toString().normalize("NFC") === text && isReachable(`/${text}`);

export function isReachable(path: string): boolean {
  try {
    return cleanPath(path) === path;
  } catch {
    return false;
  }
}
