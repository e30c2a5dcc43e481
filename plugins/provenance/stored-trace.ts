/** The conversation before a turn as the store has it: every item, whatever a model is still shown of it. */
import { LRUCache } from "lru-cache";
import type { TurnStatus } from "../../kernel/plugin.ts";
import type { CheckedTurn } from "../agent/services.ts";
import { extend, NOTHING_SAID, type Trace } from "./trace.ts";

export type StoredTraces = ReturnType<typeof createStoredTraces>;

interface Kept {
  readonly branch: string;
  /** The last turn in it. */
  readonly to: number;
  readonly trace: Trace;
}

/** Characters of conversations that are kept read, over all threads. */
const MAX_KEPT = 16_000_000;
const NOTHING_READ = { to: 0, trace: NOTHING_SAID };
const OPEN: ReadonlySet<TurnStatus> = new Set(["queued", "running"]);

export function createStoredTraces() {
  const kept = new LRUCache<string, Kept>({
    maxSize: MAX_KEPT,
    sizeCalculation: ({ trace }) => Math.min(sizeOf(trace), MAX_KEPT),
  });
  return {
    async read({ thread, isOwn, past }: Pick<CheckedTurn, "thread" | "isOwn" | "past">): Promise<Trace> {
      const known = kept.get(thread);
      const { branch, after, turns } = await past(known);
      const from = known?.branch === branch && known.to === after ? known : NOTHING_READ;
      // One that may still get items, and what follows it, is read again next time.
      const unfinished = turns.findIndex(({ status }) => OPEN.has(status));
      const finished = unfinished === -1 ? turns : turns.slice(0, unfinished);
      const trace = extend(from.trace, finished, isOwn);
      kept.set(thread, { branch, to: finished.at(-1)?.seq ?? from.to, trace });
      return extend(trace, turns.slice(finished.length), isOwn);
    },
    forget: (thread: string) => void kept.delete(thread),
  };
}

function sizeOf({ said, known, approved, entries }: Trace): number {
  const calls = approved.map(({ params }) => JSON.stringify(params) ?? "");
  const texts = [...said, ...known, ...calls, ...entries.map(({ text }) => text)];
  return texts.reduce((sum, text) => sum + text.length, 1);
}
