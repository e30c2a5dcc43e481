/**
 * What changed for a caller, told to those who listen: tools installed, removed or switched, skills, memory documents. Looked at
 * again and again while somebody listens: that sees every change, by whichever node, command or hand it was made.
 */
import { type Caller, type Log, reason, type Services } from "../../../kernel/plugin.ts";
import { mayUse } from "../parts.ts";
import { uriOf } from "./resources.ts";

export type Change =
  | { readonly kind: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string };

export type ChangeListener = (change: Change) => void;

export interface ListChanges {
  /** Answers how to stop. */
  follow(caller: Caller, listener: ChangeListener): () => void;
  close(): void;
}

export interface ChangeParts {
  readonly toolCalls: Services["toolCalls"];
  readonly skills: Services["skills"];
  readonly memory: Services["memory"];
  readonly log: Log;
}

const LOOK_MILLIS = 1500;
// Where many listen, each is looked at less often.
const LOOKS_A_SECOND = 40;

interface Seen {
  readonly tools: string;
  readonly prompts: string;
  readonly documents: ReadonlyMap<string, string>;
}

interface Watched {
  readonly caller: Caller;
  readonly listeners: Set<ChangeListener>;
  seen?: Seen;
}

export function createListChanges({ toolCalls, skills, memory, log }: ChangeParts): ListChanges {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const look = async (caller: Caller): Promise<Seen> => {
    const [tools, found, documents] = await Promise.all([
      toolCalls.list(caller),
      mayUse(caller, "skill_load") ? skills.list() : [],
      mayUse(caller, "memory_read") ? memory.tree(caller.user) : [],
    ]);
    return {
      tools: JSON.stringify(
        tools.map(({ name, version, fingerprint, asks }) => [name, version, fingerprint, asks]),
      ),
      prompts: JSON.stringify(found.map(({ name, description }) => [name, description])),
      documents: new Map(documents.map(({ path, updatedAt }) => [path, updatedAt])),
    };
  };

  const lookAgain = async (one: Watched): Promise<void> => {
    try {
      const [before, now] = [one.seen, await look(one.caller)];
      one.seen = now;
      for (const change of before === undefined ? [] : changesIn(before, now))
        for (const listener of one.listeners) listener(change);
    } catch (error) {
      log.debug(`looking for changes failed: ${reason(error)}`);
    }
  };

  const arm = (): void => {
    if (timer !== undefined || isClosed || watched.size === 0) return;
    timer = setTimeout(
      async () => {
        for (const one of [...watched.values()]) if (!isClosed) await lookAgain(one);
        timer = undefined;
        arm();
      },
      Math.max(LOOK_MILLIS, (watched.size * 1000) / LOOKS_A_SECOND),
    );
  };

  return {
    follow(caller, listener) {
      const key = JSON.stringify([caller.user, caller.scope]);
      const one = watched.get(key) ?? { caller, listeners: new Set<ChangeListener>() };
      if (!watched.has(key)) {
        watched.set(key, one);
        void lookAgain(one);
      }
      one.listeners.add(listener);
      arm();
      return () => {
        one.listeners.delete(listener);
        if (one.listeners.size === 0 && watched.get(key) === one) watched.delete(key);
      };
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      watched.clear();
    },
  };
}

function changesIn(before: Seen, now: Seen): readonly Change[] {
  const paths = (seen: Seen) => JSON.stringify([...seen.documents.keys()].toSorted());
  const updated = [...now.documents].filter(([path, at]) => (before.documents.get(path) ?? at) !== at);
  return [
    ...(before.tools === now.tools ? [] : [{ kind: "tools" } as const]),
    ...(before.prompts === now.prompts ? [] : [{ kind: "prompts" } as const]),
    ...(paths(before) === paths(now) ? [] : [{ kind: "resources" } as const]),
    ...updated.map(([path]) => ({ kind: "resource", uri: uriOf(path) }) as const),
  ];
}
