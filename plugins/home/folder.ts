/** The operator's files in the home. Every turn asks, so a file that has not changed costs no more than a look at its date. */
import { randomUUID } from "node:crypto";
import {
  constants,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unwatchFile,
  watchFile,
  writeFileSync,
} from "node:fs";
import { lstat, open, readdir, readFile, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { reason } from "../../kernel/plugin.ts";
import {
  FETCHED_MODELS_FILE,
  MAX_SKILL_LENGTH,
  MODELS_FILE,
  type OperatorFiles,
  type SkillFile,
} from "./files.ts";

const CHECK_MS = 2000;
const MAX_FILES = 500;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

type Remember = (
  file: string,
  stat: Stats,
  read: () => Promise<string | undefined>,
) => Promise<string | undefined>;

export function openFolderFiles(home: string): OperatorFiles {
  const root = join(home, "skills");
  const kept = new Map<string, { readonly stamp: string; readonly text: string }>();
  const recall = (file: string, stat: Stats): string | undefined => {
    const known = kept.get(file);
    return known?.stamp === stampOf(stat) ? known.text : undefined;
  };
  const remember: Remember = async (file, stat, read) => {
    const known = recall(file, stat);
    if (known !== undefined) return known;
    const text = await read();
    // One that could not be read now may be readable the next time, without having changed.
    if (text !== undefined) kept.set(file, { stamp: stampOf(stat), text });
    return text;
  };
  return {
    async read(path, maxBytes) {
      const file = join(home, path);
      const stat = lookAt(file);
      return stat?.isFile() ? remember(file, stat, () => readStart(file, maxBytes)) : undefined;
    },
    write: async (path, text) => writeWhole(join(home, path), text),
    async skills() {
      // Asked every turn, and most homes have none.
      if (!existsSync(root)) return [];
      const folders = namesIn(root).sort();
      const found: SkillFile[] = [];
      for (const folder of folders) {
        const file = join(root, folder, "SKILL.md");
        const stat = lookAt(file);
        const known = stat && recall(file, stat);
        try {
          // One that has not changed since it was looked at closely is only dated.
          const text = known ?? (await readSkill(root, folder, remember));
          if (text !== undefined) found.push({ folder, text });
        } catch (error) {
          found.push({ folder, why: reason(error) });
        }
      }
      return found;
    },
    async skillFiles(folder) {
      const found = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      const files = found.filter((entry) => entry.isFile()).slice(0, MAX_FILES);
      const within = await Promise.all(
        files.map(async ({ parentPath, name }) => {
          const file = join(parentPath, name);
          const path = file.slice(join(root, folder).length + 1).replaceAll(sep, "/");
          return { path, bytes: (await lstat(file)).size };
        }),
      );
      return within.filter(({ path }) => path !== "SKILL.md" && !/(?:^|\/)\./.test(path));
    },
    async skillFile(folder, path) {
      const file = join(root, folder, path);
      const real = await realpath(file).catch(() => undefined);
      const inside = join(await realpath(root), folder) + sep;
      // Neither a link nor a path may lead out of the skill's folder.
      if (!real?.startsWith(inside) || real !== inside + path.replaceAll("/", sep)) return undefined;
      const { size } = await lstat(real);
      if (size > MAX_FILE_BYTES) return undefined;
      return readFile(real, { flag: constants.O_RDONLY | constants.O_NOFOLLOW });
    },
    onChange(listener) {
      const files = [MODELS_FILE, FETCHED_MODELS_FILE].map((name) => join(home, name));
      // It is also called if there is no file yet.
      const compare = (now: Stats, before: Stats) => void (now.mtimeMs !== before.mtimeMs && listener());
      for (const file of files) watchFile(file, { interval: CHECK_MS, persistent: false }, compare);
      return () => {
        for (const file of files) unwatchFile(file, compare);
      };
    },
  };
}

const stampOf = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs} ${size} ${ino}`;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith("."));
  } catch {
    return [];
  }
}

/** The file is there whole or not at all. */
export function writeWhole(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Only as much as is wanted: the file may be anything. */
async function readStart(file: string, maxBytes: number): Promise<string | undefined> {
  await using handle = await open(file, "r").catch(() => undefined);
  const start = await handle?.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
  return start?.buffer.toString("utf8", 0, start.bytesRead);
}

async function readSkill(root: string, folder: string, remember: Remember): Promise<string | undefined> {
  const file = join(root, folder, "SKILL.md");
  if (!(await lstat(join(root, folder))).isDirectory()) return undefined;
  // A link could lead anywhere on this machine, and its text would go to the model.
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) throw new Error("it has no SKILL.md");
  if (!real.startsWith((await realpath(root)) + sep))
    throw new Error("its SKILL.md links outside the skills folder");
  const stat = await lstat(real);
  if (stat.size > MAX_SKILL_LENGTH)
    throw new Error(`its SKILL.md has more than ${MAX_SKILL_LENGTH / 1024} KiB`);
  return remember(file, stat, () => readFile(real, "utf8"));
}
