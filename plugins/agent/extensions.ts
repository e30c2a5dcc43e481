/** Collects what other plugins have added to the agent, as turns use it. */
import { Fault } from "../../kernel/plugin.ts";
import type { CheckedTurn, Extension, OwnTool, Preface, Stranger, TurnCheck } from "./services.ts";
import type { News } from "./threads/news.ts";

/** The text before the conversation of a turn. */
export interface TurnPreface {
  readonly sections: readonly string[];
  /** Those that are told with messages, by their topics. */
  readonly topics: News;
  readonly requiredTools: readonly string[];
  /** Those sections that only the operator or the user can have written. */
  readonly persons: readonly string[];
  /** Those sections that somebody else has written. */
  readonly strangers: readonly Stranger[];
  /** Those sections that come from the user's memory. */
  readonly memory: readonly string[];
}

const NOTHING: Preface = { sections: [] };

export type Extensions = ReturnType<typeof createExtensions>;

export function createExtensions() {
  const extensions = new Set<Extension>();
  const tools = new Map<string, OwnTool>();
  const followed = new Set<string>();

  return {
    /** Returns the undo. */
    add(extension: Extension): () => void {
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
    tools: (): readonly OwnTool[] => [...tools.values()],
    isOwn: (tool: string) => tools.has(tool),
    /** The names of own tools whose output is meant to be followed. It changes with them. */
    followed: followed as ReadonlySet<string>,
    async preface(user: string, allows: (tool: string) => boolean): Promise<TurnPreface> {
      const found = await Promise.all(
        [...extensions].map((extension) => extension.preface?.(user, allows) ?? NOTHING),
      );
      const sections = found.flatMap((preface) => preface.sections);
      return {
        sections: sections.filter(({ topic }) => topic === undefined).map(({ text }) => text),
        topics: Object.fromEntries(
          sections.flatMap(({ topic, text }) => (topic && text ? [[topic, text]] : [])),
        ),
        persons: sections.filter(({ isPersons }) => isPersons).map(({ text }) => text),
        strangers: sections.flatMap(({ text, origin }) => (origin ? [{ text, origin }] : [])),
        memory: sections.filter(({ isMemory }) => isMemory).map(({ text }) => text),
        requiredTools: found.flatMap(({ requiredTools = [] }) => requiredTools),
      };
    },
    check: (turn: CheckedTurn): Promise<readonly TurnCheck[]> =>
      Promise.all([...extensions].flatMap((extension) => extension.check?.(turn) ?? [])),
  };
}
