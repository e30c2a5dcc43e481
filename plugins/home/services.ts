/** Services of the operator's files for other plugins. */
import type { ToolOrigin } from "../../kernel/kit/tools.ts";
import type { Origin } from "../../kernel/plugin.ts";
import type { OperatorTables } from "./model-table.ts";

export type { ModelRow, ModelTable, PriceRow } from "./model-table.ts";

/** A text for each kind of task that the agent was taught, loaded when a task fits. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** Whose words it is; absent where the operator wrote it. */
  readonly origin?: Origin | undefined;
}

export interface ReadSkill extends Skill {
  readonly text: string;
  /** A turn that has loaded the skill fails where the last call of one of these did. */
  readonly requiredTools: readonly string[];
  /** A turn that has loaded the skill can use no others; absent where it does not say. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Beside its SKILL.md. */
  readonly files: readonly SkillFileInfo[];
}

export type SkillFileKind = "reference" | "asset" | "script" | "not runnable here" | "other";

export interface SkillFileInfo {
  readonly path: string;
  readonly bytes: number;
  readonly kind: SkillFileKind;
}

export interface SkillProblem {
  readonly folder: string;
  readonly why: string;
}

export interface Skills {
  /** Those that are there now: they may come and go while the service runs. */
  list(): Promise<readonly Skill[]>;
  read(name: string): Promise<ReadSkill | undefined>;
  /** One of its files; undefined where it has none of that path. */
  file(name: string, path: string): Promise<Uint8Array | undefined>;
  /** Folders whose skill cannot be used. */
  problems(): Promise<readonly SkillProblem[]>;
}

/** A skill from elsewhere, which the operator agreed to as it is. */
export interface AddedSkill {
  readonly name: string;
  /** Of all its files. */
  readonly digest: string;
  readonly origin: ToolOrigin;
  readonly addedAt: string;
}

/** The operator's view of skills from elsewhere. */
export interface AddedSkills {
  list(): Promise<readonly AddedSkill[]>;
  /** All files of one; undefined where there is none of that name. */
  files(name: string): Promise<ReadonlyMap<string, Uint8Array> | undefined>;
  /** Puts it in place of the one of its name. */
  put(skill: Omit<AddedSkill, "addedAt">, files: ReadonlyMap<string, Uint8Array>): Promise<void>;
  remove(name: string): Promise<boolean>;
}

/** The operator's files for the agent: files in the home, or rows if nodes share a database. */
export interface HomeFiles {
  /** Who the agent is and whom it serves, in the order in which they are read out. */
  readonly identity: readonly { readonly name: string; readonly about: string }[];
  /** The first bytes of a file, by its path in the home; undefined where there is none. */
  read(path: string, maxBytes: number): Promise<string | undefined>;
  /** What the home says of models. Throws if a file of it cannot be used. */
  models(): Promise<OperatorTables>;
  /** Keeps a table of models that was fetched, in place of the one before. Throws if it is not one. */
  keepModels(text: string): Promise<void>;
  /** Tells when another node or command changed something; in a home only of the tables of models, as the rest is read whenever it is asked for. */
  onChange(listener: () => void): () => void;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    homeFiles: HomeFiles;
    skills: Skills;
    addedSkills: AddedSkills;
  }
}
