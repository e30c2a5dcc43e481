/** Services of the operator's files for other plugins. */

/** A text for each kind of task that the operator taught the agent, loaded when a task fits. */
export interface Skill {
  readonly name: string;
  readonly description: string;
}

export interface SkillProblem {
  readonly folder: string;
  readonly why: string;
}

export interface Skills {
  /** Those that are there now: they may come and go while the service runs. */
  list(): Promise<readonly Skill[]>;
  read(name: string): Promise<
    | (Skill & {
        readonly text: string;
        /** A turn that has loaded the skill fails where the last call of one of these did. */
        readonly requiredTools: readonly string[];
      })
    | undefined
  >;
  /** Folders whose skill cannot be used. */
  problems(): Promise<readonly SkillProblem[]>;
}

/** US dollars for a million tokens of a model, as decimal strings. */
export interface Price {
  readonly input: string;
  readonly output: string;
  /** For input the provider had cached; the input price where absent. */
  readonly cached?: string;
  /** Tokens of context. */
  readonly window?: number;
}

/** The operator's files for the agent: files in the home, or rows if nodes share a database. */
export interface HomeFiles {
  /** Who the agent is and whom it serves, in the order in which they are read out. */
  readonly identity: readonly { readonly name: string; readonly about: string }[];
  /** The first bytes of a file, by its path in the home; undefined where there is none. */
  read(path: string, maxBytes: number): Promise<string | undefined>;
  /** The operator's prices, by the names of models. Throws where `prices.json` is not a price table. */
  prices(): Promise<Readonly<Record<string, Price>>>;
  /** Tells when another node or command changed something; never in a home, which is read as it is. */
  onChange(listener: () => void): () => void;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    homeFiles: HomeFiles;
    skills: Skills;
  }
}
