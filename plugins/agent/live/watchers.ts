/** Who hears of a user's turns on this node. */
import type { Log, TurnEvent } from "../../../kernel/plugin.ts";
import type { Agent } from "../services.ts";
import type { TurnPlace } from "./relay.ts";

type Listener = Parameters<Agent["watch"]>[1];

interface Watcher {
  readonly listener: Listener;
  readonly lost: () => void;
}

/** `onChange` is told of the first and the last of each user. */
export function createWatchers(log: Log, onChange: (user: string, isWatched: boolean) => void) {
  const watchers = new Map<string, Set<Watcher>>();

  function each(user: string, act: (watcher: Watcher) => void): void {
    for (const watcher of watchers.get(user) ?? []) {
      try {
        act(watcher);
      } catch (error) {
        log.error({ error }, "a listener to turns failed");
      }
    }
  }

  return {
    /** Returns a function that stops it. */
    add(user: string, listener: Listener, lost: () => void): () => void {
      const known = watchers.get(user);
      const mine = known ?? new Set();
      const watcher = { listener, lost };
      watchers.set(user, mine.add(watcher));
      if (known === undefined) onChange(user, true);
      return () => {
        if (!mine.delete(watcher) || mine.size > 0 || watchers.get(user) !== mine) return;
        watchers.delete(user);
        onChange(user, false);
      };
    },
    tell: (user: string, event: TurnEvent, turn: TurnPlace) =>
      each(user, ({ listener }) => listener(event, turn)),
    /** Events of this user's turns were lost. */
    tellLost: (user: string) => each(user, ({ lost }) => lost()),
  };
}
