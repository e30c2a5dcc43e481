/** What other plugins have added to the agent, as turns use it. */
import {
  type CheckedTurn,
  type Extension,
  Fault,
  type OwnTool,
  type Preface,
  type TurnCheck,
} from "../../kernel/plugin.ts";

/** What stands before the conversation of a turn. */
export interface TurnPreface {
  readonly sections: readonly string[];
  readonly requiredTools: readonly string[];
  /** Those sections that only the operator or the user can have written. */
  readonly persons: readonly string[];
}

const NOTHING: Preface = { sections: [] };

export interface Extensions {
  /** Returns the undo. */
  add(extension: Extension): () => void;
  all(): readonly Extension[];
  tools(): readonly OwnTool[];
  isOwn(tool: string): boolean;
  /** The names of own tools whose output is meant to be followed. It changes with them. */
  readonly followed: ReadonlySet<string>;
  preface(user: string, allows: (tool: string) => boolean): Promise<TurnPreface>;
  check(turn: CheckedTurn): Promise<readonly TurnCheck[]>;
}

export function createExtensions(): Extensions {
  const extensions = new Set<Extension>();
  const tools = new Map<string, OwnTool>();
  const followed = new Set<string>();

  return {
    add(extension) {
      const taken = extension.tools?.find(({ name }) => tools.has(name));
      if (taken)
        throw new Fault("config", "duplicate_tool", `two plugins add the tool "${taken.name}"; remove one`);
      extensions.add(extension);
      for (const tool of extension.tools ?? []) {
        tools.set(tool.name, tool);
        if (tool.isFollowed) followed.add(tool.name);
      }
      return () => {
        extensions.delete(extension);
        for (const { name } of extension.tools ?? []) {
          tools.delete(name);
          followed.delete(name);
        }
      };
    },
    all: () => [...extensions],
    tools: () => [...tools.values()],
    isOwn: (tool) => tools.has(tool),
    followed,
    async preface(user, allows) {
      const found = await Promise.all(
        [...extensions].map((extension) => extension.preface?.(user, allows) ?? NOTHING),
      );
      const sections = found.flatMap((preface) => preface.sections);
      return {
        sections: sections.map(({ text }) => text),
        persons: sections.filter(({ isPersons }) => isPersons).map(({ text }) => text),
        requiredTools: found.flatMap(({ requiredTools = [] }) => requiredTools),
      };
    },
    check: (turn) => Promise.all([...extensions].flatMap((extension) => extension.check?.(turn) ?? [])),
  };
}
