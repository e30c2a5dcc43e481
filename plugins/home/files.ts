/** What the operator writes for the agent: who it is, skills, prices. Files in the home, or rows where nodes share a database. */

export interface OperatorFiles {
  /** The first bytes of a file, by its path in the home; undefined where there is none. */
  read(path: string, mostBytes: number): Promise<string | undefined>;
  /** What `skills` holds, in order. */
  skills(): Promise<readonly SkillFile[]>;
  /** Tells when another node or command changed something; never in a home, which is read as it is. */
  onChange(listener: () => void): () => void;
}

/** The text of a SKILL.md, or why it cannot be had. */
export type SkillFile =
  | { readonly folder: string; readonly text: string }
  | { readonly folder: string; readonly why: string };

/** In the order in which they are read out. */
export const IDENTITY_FILES: readonly { readonly name: string; readonly about: string }[] = [
  { name: "AGENTS.md", about: "how to work" },
  { name: "SOUL.md", about: "how to be" },
  { name: "IDENTITY.md", about: "who you are" },
  { name: "USER.md", about: "about the user" },
];

export const PRICES_FILE = "prices.json";

export const MAX_SKILL_LENGTH = 64 * 1024;
export const MAX_BYTES = 1024 * 1024;

const SKILL = /^skills\/([^./\\\0][^/\\\0]{0,200})\/SKILL\.md$/;

/** Undefined where the path is not that of a skill. */
export const folderOf = (path: string): string | undefined => SKILL.exec(path)?.[1];
export const skillPath = (folder: string): string => `skills/${folder}/SKILL.md`;

/** Whether a file of that path is the operator's for the agent. */
export function isOperatorFile(path: string): boolean {
  return (
    path === PRICES_FILE || IDENTITY_FILES.some(({ name }) => name === path) || folderOf(path) !== undefined
  );
}
