/** A folder, held open. What is below it is reached name by name, never through a link, so that nothing leads elsewhere. */
import { randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  opendir,
  realpath,
  rename,
  rmdir,
  unlink,
} from "node:fs/promises";
import { Fault } from "../../../kernel/plugin.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_CREAT, O_EXCL, O_WRONLY } = constants;

/** A folder with more names is listed so far. */
const MAX_NAMES = 20_000;
/** Linux goes from the open folder on. Elsewhere its path is used, after a look at whether that is still the same folder. */
const isLinux = process.platform === "linux";
/** What begins so is ours, on its way to its name. Then comes the id of the process that writes it. */
const TEMPORARY = ".postern-";
const LEFTOVER = /^\.postern-(?:(\d+)-)?[\da-f]{16}$/;

export interface Directory extends AsyncDisposable {
  /** The folder or file of this name; undefined where there is none. A fault for a link and for what is neither. */
  look(name: string): Promise<BigIntStats | undefined>;
  enter(name: string): Promise<Directory>;
  make(name: string): Promise<void>;
  openFile(name: string): Promise<FileHandle>;
  /** Names as bytes, which need not be UTF-8. */
  names(): Promise<{ readonly names: readonly Buffer[]; readonly isCut: boolean }>;
  /** Puts the data at the name at once: whoever looks sees what was there or all of it. `isNew`: only where nothing is. */
  replace(
    name: string,
    data: AsyncIterable<Uint8Array>,
    options: { readonly isNew: boolean; readonly mode: number; check(): Promise<void> },
  ): Promise<void>;
  /** Removes what processes that were killed left on its way to a name. */
  removeLeftovers(): Promise<void>;
  remove(name: string): Promise<void>;
  removeFolder(name: string): Promise<void>;
}

export async function openDirectory(folder: string): Promise<Directory> {
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    // A folder on the way to it may have become a link since its path was looked at.
    if ((await realpath(isLinux ? `/proc/self/fd/${handle.fd}` : folder)) !== folder) throw swapped(folder);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return await holding(handle, folder);
}

async function holding(handle: FileHandle, folder: string): Promise<Directory> {
  const own = await handle.stat({ bigint: true });
  const here = isLinux ? `/proc/self/fd/${handle.fd}` : folder;
  async function at(name: string): Promise<string> {
    if (!isLinux) {
      const now = await lstat(folder, { bigint: true });
      if (now.ino !== own.ino || now.dev !== own.dev) throw swapped(folder);
    }
    return `${here}/${name}`;
  }
  async function flush(): Promise<void> {
    if (process.platform !== "win32") await handle.sync();
  }
  return {
    async look(name) {
      try {
        const found = await lstat(await at(name), { bigint: true });
        if (found.isSymbolicLink()) throw isLink(name);
        if (!found.isFile() && !found.isDirectory()) throw isSpecial(name);
        return found;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async enter(name) {
      return await holding(
        await open(await at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
        `${folder}/${name}`,
      );
    },
    async make(name) {
      await mkdir(await at(name));
      await flush();
    },
    async openFile(name) {
      // A pipe that nobody writes to would wait for ever.
      const file = await open(await at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      if ((await file.stat()).isFile()) return file;
      await file.close();
      throw isSpecial(name);
    },
    async names() {
      const names: Buffer[] = [];
      const entries = await opendir(here, { encoding: "buffer" as BufferEncoding });
      for await (const { name } of entries) {
        const bytes = name as unknown as Buffer;
        if (bytes.toString("latin1").startsWith(TEMPORARY)) continue;
        if (names.length === MAX_NAMES) return { names, isCut: true };
        names.push(bytes);
      }
      return { names, isCut: false };
    },
    async replace(name, data, { isNew, mode, check }) {
      const temporary = await at(`${TEMPORARY}${process.pid}-${randomBytes(8).toString("hex")}`);
      const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
      try {
        try {
          for await (const piece of data) await file.writeFile(piece);
          await file.sync();
        } finally {
          await file.close();
        }
        await check();
        if (isNew) await link(temporary, await at(name));
        else await rename(temporary, await at(name));
      } finally {
        await unlink(temporary).catch(() => {});
      }
      await flush();
    },
    async removeLeftovers() {
      for await (const { name } of await opendir(here)) {
        const [found, pid] = LEFTOVER.exec(name) ?? [];
        if (found !== undefined && !isWriting(Number(pid))) await unlink(await at(name));
      }
    },
    async remove(name) {
      await unlink(await at(name));
      await flush();
    },
    async removeFolder(name) {
      await rmdir(await at(name));
      await flush();
    },
    async [Symbol.asyncDispose]() {
      await handle.close();
    },
  };
}

/** The same id may be another process's by now, or was an earlier one's of ours: what that left goes with the next start. */
function isWriting(pid: number): boolean {
  if (Number.isNaN(pid) || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const isLink = (name: string): Fault =>
  mountFault(`${name} is a link. Links below a mounted folder are not followed.`);

const isSpecial = (name: string): Fault =>
  mountFault(`${name} is neither a file nor a folder, so it is not read or changed.`);

const swapped = (folder: string): Fault => mountFault(`${folder} was replaced by another folder meanwhile.`);

export const mountFault = (message: string, cause?: unknown): Fault =>
  new Fault("invalid", "workspace_mount", message, { param: "path", cause });

const WORDS: Readonly<Record<string, string>> = {
  EACCES: "the service may not open it: change its permissions",
  EPERM: "the service may not do this: change its permissions",
  EROFS: "the disk can only be read",
  ENOSPC: "the disk is full: free some space",
  EDQUOT: "the disk quota is used up: free some space",
  EIO: "the disk failed",
  ELOOP: "it is a link, and links are not followed",
  ENOTDIR: "a part of its path is a file or a link, not a folder",
  EISDIR: "it is a folder",
  ENXIO: "it is neither a file nor a folder",
  EEXIST: "there is one already",
  ENOTEMPTY: "it is not empty",
  ENAMETOOLONG: "its name is too long for the disk",
  EMFILE: "too many files are open: try again",
};

/** Says what the machine refused. Faults and bugs pass as they are. */
export function explain(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  if (error instanceof Fault || code === "") return error;
  if (code === "ENOENT")
    return new Fault("missing", "workspace_not_found", `There is no ${path} in the workspace.`);
  return mountFault(`${path}: ${WORDS[code] ?? `the machine refused it (${code})`}.`, error);
}
