/** Who the agent is and whom it serves: files of the operator in the home, and documents of the user in memory. */
import { type Stats, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Documents } from "../memory/documents.ts";

/** In the order in which they are read out. */
const FILES: readonly { readonly name: string; readonly about: string }[] = [
  { name: "AGENTS.md", about: "how to work" },
  { name: "SOUL.md", about: "how to be" },
  { name: "IDENTITY.md", about: "who you are" },
  { name: "USER.md", about: "about the user" },
];

/** Paths whose text goes into the prompt: only the person may write them, never a model that read something odd. */
export const IDENTITY_PATHS: ReadonlySet<string> = new Set(FILES.map(({ name }) => name));

const LONGEST = 16_000;

/** The section of the prompt; empty where nobody wrote any. */
export async function identityPrompt(
  home: string,
  memory: Pick<Documents, "readTexts">,
  user: string,
): Promise<string> {
  const sections: string[] = [];
  const [owned, shared] = await Promise.all([
    memory.readTexts(user, [...IDENTITY_PATHS]),
    Promise.all(FILES.map(({ name }) => readShared(join(home, name)))),
  ]);
  for (const [at, { name, about }] of FILES.entries()) {
    const own = owned.get(name) ?? "";
    for (const [text, whose] of [
      [shared[at] ?? "", "from the operator"],
      [own, "from this user's memory"],
    ] as const) {
      if (text.trim() !== "") sections.push(`## ${name} (${about}, ${whose})\n${cap(text.trim())}`);
    }
  }
  return sections.join("\n\n");
}

/** Files as they were last read, by path. */
const read = new Map<string, { readonly stamp: string; readonly text: string }>();

/** Every turn asks, so a file that has not changed costs no more than a look at its date. */
async function readShared(file: string): Promise<string> {
  const stat = lookAt(file);
  if (!stat?.isFile()) return "";
  const stamp = `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
  const known = read.get(file);
  if (known?.stamp === stamp) return known.text;
  const text = await readStart(file);
  // One that could not be read now may be readable the next time, without having changed.
  if (text !== undefined) read.set(file, { stamp, text });
  return text ?? "";
}

function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Only as much as is shown: the file may be anything. */
async function readStart(file: string): Promise<string | undefined> {
  const handle = await open(file, "r").catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LONGEST * 4), 0, LONGEST * 4, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function cap(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}\n[… truncated …]`.toWellFormed();
}
