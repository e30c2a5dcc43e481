/** Closes or reruns, within seconds, what other nodes left behind when they died; the first node that notices does it. */
import { oneAtATime } from "../../kernel/kit/concurrency.ts";
import { type Log, reason, type TurnRecord } from "../../kernel/plugin.ts";
import type { Store } from "../store/services.ts";
import type { RunningAgent } from "./agent.ts";
import type { Ledger } from "./threads/ledger.ts";

// Also where nobody was told of a death: a node may have died before this one started.
const LOOK_MS = 5000;

export interface DeathParts {
  readonly ledger: Pick<Ledger, "takeOver">;
  readonly agent: Pick<RunningAgent, "isOurs" | "closed" | "abandon" | "takeWaiting">;
  readonly listeners: ReadonlySet<() => Promise<void>>;
  readTurn(user: string, turn: string): Promise<TurnRecord | undefined>;
  readonly log: Log;
}

/** Closes turns that no node runs any more, and returns how many there were. */
export async function closeOrphans({ ledger, agent, readTurn }: Omit<DeathParts, "listeners" | "log">) {
  const taken = await ledger.takeOver(agent.isOurs);
  for (const turn of taken) {
    const record = await readTurn(turn.user, turn.id);
    if (record !== undefined) await agent.closed(turn, record);
  }
  return taken.length;
}

/** Returns a function that stops it. */
export function followDeaths({ node }: Pick<Store, "node">, parts: DeathParts): () => Promise<void> {
  const { agent, listeners, log } = parts;
  const takeOver = oneAtATime(async () => {
    try {
      const turns = await closeOrphans(parts);
      if (turns > 0) log.warn({ turns }, "closed the turns of a node that is gone");
      await agent.takeWaiting();
      for (const listener of listeners) await listener();
    } catch (error) {
      log.warn(`what other nodes left could not be taken over, retrying: ${reason(error)}`);
    }
  });
  let current = Promise.resolve();
  // Who dies while it is at work may have been missed by it.
  const begin = (): void => {
    current = takeOver();
  };
  const unfollow = node.onDead((id) => {
    if (id === node.id) {
      log.error("this node lost the database for so long that others took over its turns and jobs");
      agent.abandon();
    }
    begin();
  });
  const timer = setInterval(begin, LOOK_MS).unref();
  return async () => {
    clearInterval(timer);
    unfollow();
    await current;
  };
}
