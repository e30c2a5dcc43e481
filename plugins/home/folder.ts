/** The operator's files in the home. Every turn asks, so a file that has not changed costs no more than a look at its date. */
import { existsSync, type Stats, statSync } from "node:fs";
import { lstat, open, readdir, readFile, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { reason } from "../../kernel/plugin.ts";
import { MAX_SKILL_LENGTH, type OperatorFiles, type SkillFile } from "./files.ts";

type Remember = (
  file: string,
  stat: Stats,
  read: () => Promise<string | undefined>,
) => Promise<string | undefined>;

export function openFolderFiles(home: string): OperatorFiles {
  const root = join(home, "skills");
  const kept = new Map<string, { readonly stamp: string; readonly text: string }>();
  const remember: Remember = async (file, { mtimeMs, size, ino }, read) => {
    const stamp = `${mtimeMs} ${size} ${ino}`;
    const known = kept.get(file);
    if (known?.stamp === stamp) return known.text;
    const text = await read();
    // One that could not be read now may be readable the next time, without having changed.
    if (text !== undefined) kept.set(file, { stamp, text });
    return text;
  };
  return {
    async read(path, maxBytes) {
      const file = join(home, path);
      const stat = lookAt(file);
      return stat?.isFile() ? remember(file, stat, () => readStart(file, maxBytes)) : undefined;
    },
    async skills() {
      // Asked every turn, and most homes have none.
      if (!existsSync(root)) return [];
      const folders = (await readdir(root).catch(() => [])).filter((name) => !name.startsWith(".")).sort();
      const found: SkillFile[] = [];
      for (const folder of folders) {
        try {
          const text = await readSkill(root, folder, remember);
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
  return remember(real, stat, () => readFile(real, "utf8"));
}
