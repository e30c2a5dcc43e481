/** The operator's files in the home. Every turn asks, so a file that has not changed costs no more than a look at its date. */
import { existsSync, type Stats, statSync } from "node:fs";
import { lstat, open, readdir, readFile, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { reason } from "../../kernel/plugin.ts";
import { MAX_SKILL_LENGTH, type OperatorFiles, type SkillFile } from "./files.ts";

type Kept = Map<string, { readonly stamp: string; readonly text: string }>;

export function openFolderFiles(home: string): OperatorFiles {
  const root = join(home, "skills");
  const kept: Kept = new Map();
  return {
    async read(path, mostBytes) {
      const file = join(home, path);
      const stat = lookAt(file);
      if (!stat?.isFile()) return undefined;
      const stamp = `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
      const known = kept.get(file);
      if (known?.stamp === stamp) return known.text;
      const text = await readStart(file, mostBytes);
      // One that could not be read now may be readable the next time, without having changed.
      if (text !== undefined) kept.set(file, { stamp, text });
      return text;
    },
    async skills() {
      // Asked every turn, and most homes have none.
      if (!existsSync(root)) return [];
      const folders = (await readdir(root).catch(() => [])).filter((name) => !name.startsWith(".")).sort();
      const found: SkillFile[] = [];
      for (const folder of folders) {
        try {
          const text = await readSkill(root, folder, kept);
          if (text !== undefined) found.push({ folder, text });
        } catch (error) {
          found.push({ folder, why: reason(error) });
        }
      }
      return found;
    },
    onChange: () => () => {},
  };
}

function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Only as much as is wanted: the file may be anything. */
async function readStart(file: string, mostBytes: number): Promise<string | undefined> {
  const handle = await open(file, "r").catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function readSkill(root: string, folder: string, kept: Kept): Promise<string | undefined> {
  const file = join(root, folder, "SKILL.md");
  const isFolder = (await lstat(join(root, folder))).isDirectory();
  if (!isFolder) return undefined;
  // A link could lead anywhere on this machine, and its text would go to the model.
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) throw new Error("it has no SKILL.md");
  if (!real.startsWith((await realpath(root)) + sep))
    throw new Error("its SKILL.md links outside the skills folder");
  const { size, mtimeMs } = await lstat(real);
  const stamp = `${size} ${mtimeMs}`;
  const known = kept.get(real);
  if (known?.stamp === stamp) return known.text;
  if (size > MAX_SKILL_LENGTH) throw new Error(`its SKILL.md has more than ${MAX_SKILL_LENGTH / 1024} KiB`);
  const text = await readFile(real, "utf8");
  kept.set(real, { stamp, text });
  return text;
}
