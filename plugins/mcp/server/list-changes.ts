/** Tells listeners what has changed for a caller. It polls while somebody listens, which sees every change. */
import { reason } from "../../../kernel/plugin.ts";
import type { Caller } from "../../agent/services.ts";
import type { ChangeSet } from "../../workspace/services.ts";
import { uriOf } from "../features/resources.ts";
import { fileUri } from "../features/workspace-files.ts";
import { mayUse, type ServerParts } from "../parts.ts";

export type Change =
  | { readonly kind: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string };

type ChangeListener = (change: Change) => void;

type ChangeParts = Pick<ServerParts, "toolCalls" | "skills" | "memory" | "workspace" | "log">;

const POLL_MS = 1500;
// With many listeners, each is polled less often.
const MAX_POLLS_PER_SECOND = 40;
/** More sets between two polls are told as a changed list. */
const MAX_SETS = 5;

interface Seen {
  readonly tools: string;
  readonly prompts: string;
  readonly documents: ReadonlyMap<string, string>;
  /** The newest changes of files, the last first. */
  readonly sets: readonly ChangeSet[];
}

interface Watched {
  readonly caller: Caller;
  readonly listeners: Set<ChangeListener>;
  seen?: Seen;
}

export function createListChanges({ toolCalls, skills, memory, workspace, log }: ChangeParts) {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const look = async (caller: Caller): Promise<Seen> => {
    const [tools, found, documents, changed] = await Promise.all([
      toolCalls.list(caller),
      mayUse(caller, "skill_load") ? skills.list() : [],
      mayUse(caller, "memory_read") ? memory.tree(caller.user) : [],
      mayUse(caller, "workspace_read") ? workspace?.log(caller.user, { limit: MAX_SETS }) : undefined,
    ]);
    return {
      tools: JSON.stringify(
        tools.map(({ name, version, fingerprint, asks }) => [name, version, fingerprint, asks]),
      ),
      prompts: JSON.stringify(found.map(({ name, description }) => [name, description])),
      documents: new Map(documents.map(({ path, updatedAt }) => [path, updatedAt])),
      sets: changed?.items ?? [],
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
      Math.max(POLL_MS, (watched.size * 1000) / MAX_POLLS_PER_SECOND),
    );
  };

  return {
    /** Returns a function that stops. */
    follow(caller: Caller, listener: ChangeListener): () => void {
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
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      watched.clear();
    },
  };
}

function changesIn(before: Seen, now: Seen): readonly Change[] {
  const paths = (seen: Seen) => JSON.stringify([...seen.documents.keys()].toSorted());
  const known = before.sets[0]?.id;
  const at = now.sets.findIndex(({ id }) => id === known);
  const news = at === -1 ? now.sets : now.sets.slice(0, at);
  const files = new Set(news.flatMap(({ changes }) => changes.flatMap(({ path, to }) => [path, to ?? path])));
  const updated = [...now.documents].filter(([path, at]) => (before.documents.get(path) ?? at) !== at);
  return [
    ...(before.tools === now.tools ? [] : [{ kind: "tools" } as const]),
    ...(before.prompts === now.prompts ? [] : [{ kind: "prompts" } as const]),
    ...(paths(before) === paths(now) && files.size === 0 ? [] : [{ kind: "resources" } as const]),
    ...updated.map(([path]) => ({ kind: "resource", uri: uriOf(path) }) as const),
    ...[...files].map((path) => ({ kind: "resource", uri: fileUri(path) }) as const),
  ];
}
