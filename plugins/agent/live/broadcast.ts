/** Tells of a turn's events: its callers, who watches its user's turns on this node, and the nodes where others do. */
import type { TurnEvent } from "../../../kernel/plugin.ts";
import type { Agent } from "../services.ts";
import { createRelay, LAST_WORD, type RelayParts, type TurnPlace } from "./relay.ts";
import type { OpenTurn } from "./stream.ts";
import { createWatchers } from "./watchers.ts";

export interface BroadcastParts extends Pick<RelayParts, "node" | "signals" | "log" | "stop" | "wake"> {
  /** The turns that this node has in hand. */
  readonly active: ReadonlyMap<string, OpenTurn>;
}

export function createBroadcast({ active, ...parts }: BroadcastParts) {
  const watchers = createWatchers(parts.log, (user, isWatched) => relay.watch(user, isWatched));
  const relay = createRelay({
    ...parts,
    *running(user) {
      for (const { turn, writer, stream } of active.values())
        if (turn.user === user && !turn.keeping?.ephemeral)
          yield { id: writer.id, thread: writer.thread, events: stream.events };
    },
    tell: watchers.tell,
    lost: watchers.tellLost,
  });

  function tellWatchers(user: string, { id, thread }: TurnPlace, n: number, event: TurnEvent): void {
    watchers.tell(user, event, { id, thread });
    relay.send(user, { id, thread }, n, event);
  }

  return {
    emit({ turn, writer, stream }: OpenTurn, event: TurnEvent): void {
      const n = stream.push(event);
      if (!turn.keeping?.ephemeral) tellWatchers(turn.user, writer, n, event);
    },
    /** An event of a turn that has ended, or whose node is gone. */
    tellAfterwards: (turn: TurnPlace & { readonly user: string }, event: TurnEvent) =>
      tellWatchers(turn.user, turn, LAST_WORD, event),
    watch: ((user, listener, lost = () => {}) => watchers.add(user, listener, lost)) satisfies Agent["watch"],
    stopTurn: relay.stopTurn,
    wake: relay.wake,
    close: relay.stop,
  };
}
