/** The operator's files for the agent: who it is, skills, models. They are files in the home, or rows if nodes share a database. */
import type { HomeFiles } from "./services.ts";

export interface OperatorFiles extends Pick<HomeFiles, "read" | "onChange"> {
  /** Whole or not at all. */
  write(path: string, text: string): Promise<void>;
  skills(): Promise<readonly SkillFile[]>;
  /** What else is in a folder of `skills`; nothing where nodes share a database, which has only texts. */
  skillFiles(folder: string): Promise<readonly { readonly path: string; readonly bytes: number }[]>;
  skillFile(folder: string, path: string): Promise<Uint8Array | undefined>;
}

/** The text of a SKILL.md, or why it cannot be had. */
export type SkillFile =
  | { readonly folder: string; readonly text: string }
  | { readonly folder: string; readonly why: string };

/** In the order in which they are read out. */
export const IDENTITY_FILES: HomeFiles["identity"] = [
  { name: "AGENTS.md", about: "how to work" },
  { name: "SOUL.md", about: "how to be" },
  { name: "IDENTITY.md", about: "who you are" },
  { name: "USER.md", about: "about the user" },
];

export const MODELS_FILE = "models.json";
/** The table of models that was fetched last. */
export const FETCHED_MODELS_FILE = "models-fetched.json";

/** All but the skills. */
export const SINGLE_FILES: readonly string[] = [
  ...IDENTITY_FILES.map(({ name }) => name),
  MODELS_FILE,
  FETCHED_MODELS_FILE,
];

export const MAX_SKILL_LENGTH = 64 * 1024;
export const MAX_BYTES = 1024 * 1024;

const SKILL = /^skills\/([^./\\\0][^/\\\0]{0,200})\/SKILL\.md$/;

export const folderOf = (path: string): string | undefined => SKILL.exec(path)?.[1];
export const skillPath = (folder: string): string => `skills/${folder}/SKILL.md`;

/** True for the path of a file that the operator writes for the agent. */
export function isOperatorFile(path: string): boolean {
  return SINGLE_FILES.includes(path) || folderOf(path) !== undefined;
}
