/** Turns that wait here for an earlier one of their thread, oldest first. Which of them may run is for the store to say. */

interface Lane<Entry> {
  readonly waiting: Entry[];
  isWaking: boolean;
  /** Something ended while the first was being woken. */
  isToWakeAgain: boolean;
}

/**
 * `begin` returns whether the first in line runs now, and never rejects. `start` is called for one that left the line. `seqOf` returns
 * the number by which turns came, on any node: what another node has left joins after what came later here.
 */
export function createLanes<Entry>(
  begin: (entry: Entry) => Promise<boolean>,
  start: (entry: Entry) => void,
  seqOf: (entry: Entry) => number,
) {
  const lanes = new Map<string, Lane<Entry>>();
  const wakings = new Set<Promise<void>>();

  /** A turn of this thread has ended, here or on another node. */
  async function wake(thread: string): Promise<void> {
    const lane = lanes.get(thread);
    if (lane === undefined) return;
    lane.isToWakeAgain = true;
    if (lane.isWaking) return;
    const waking = wakeFirst(thread, lane);
    wakings.add(waking);
    await waking;
    wakings.delete(waking);
  }

  async function wakeFirst(thread: string, lane: Lane<Entry>): Promise<void> {
    lane.isWaking = true;
    while (lane.isToWakeAgain) {
      lane.isToWakeAgain = false;
      const [first] = lane.waiting;
      if (first !== undefined && (await begin(first)) && leave(thread, first)) start(first);
    }
    lane.isWaking = false;
  }

  /** False where it was not in line, because it runs or has left. */
  function leave(thread: string, entry: Entry): boolean {
    const lane = lanes.get(thread);
    const at = lane?.waiting.indexOf(entry) ?? -1;
    if (lane === undefined || at === -1) return false;
    lane.waiting.splice(at, 1);
    if (lane.waiting.length === 0) lanes.delete(thread);
    return true;
  }

  return {
    /** Gets into line, and runs at once where what it would wait for has ended in the meantime. */
    join(thread: string, entry: Entry): void {
      const lane = lanes.get(thread) ?? { waiting: [], isWaking: false, isToWakeAgain: false };
      lanes.set(thread, lane);
      const later = lane.waiting.findIndex((other) => seqOf(other) > seqOf(entry));
      lane.waiting.splice(later === -1 ? lane.waiting.length : later, 0, entry);
      void wake(thread);
    },
    leave,
    wake,
    /** Resolves when none is being begun. */
    settled: () => Promise.all(wakings),
    /** The threads with something queued. */
    threads: (): readonly string[] => [...lanes.keys()],
  };
}
