/** Tells the agent who it is and whom it serves, from the operator's files and the user's documents in memory. */
import type { Documents } from "../memory/documents.ts";
import { IDENTITY_FILES, type OperatorFiles } from "./files/files.ts";

/** Paths whose text goes into the prompt: only the person may write them, never a model that read something odd. */
export const IDENTITY_PATHS: ReadonlySet<string> = new Set(IDENTITY_FILES.map(({ name }) => name));

const LONGEST = 16_000;

/** The section of the prompt; empty where nobody wrote any. */
export async function identityPrompt(
  files: Pick<OperatorFiles, "read">,
  memory: Pick<Documents, "readTexts">,
  user: string,
): Promise<string> {
  const sections: string[] = [];
  const [owned, shared] = await Promise.all([
    memory.readTexts(user, [...IDENTITY_PATHS]),
    Promise.all(IDENTITY_FILES.map(({ name }) => files.read(name, LONGEST * 4))),
  ]);
  for (const [at, { name, about }] of IDENTITY_FILES.entries()) {
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

function cap(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}\n[… truncated …]`.toWellFormed();
}
