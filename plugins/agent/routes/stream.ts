/** The events of one user's turns, on any channel, as numbered frames. */
import { randomBytes } from "node:crypto";
import { toWire } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { TurnFrame } from "./frame.ts";

const BOUNDS: RingBounds = { entries: 20_000, bytes: 8 * 1024 * 1024 };

/** The position of a reader in the stream. */
export interface ReadPosition {
  /** The number of the last frame that was read. */
  at: number;
  /** Up to this number only frames of these turns are read: the others had ended when the reader connected. */
  readonly until: number;
  readonly turns: ReadonlySet<string>;
}

export type UserStream = ReturnType<typeof openStream>;

/** Calls a listener with every event of one user; returns a function that unsubscribes. */
export type Watch = (listener: Parameters<Services["agent"]["watch"]>[1]) => () => void;

export function openStream(watch: Watch, onEvent: () => void, bounds: RingBounds = BOUNDS) {
  const name = randomBytes(6).toString("hex");
  const ring = createRing(bounds);
  /** The number of the first frame of each turn that has not ended. */
  const open = new Map<string, number>();

  const unwatch = watch((event, turn) => {
    const place = { turn: turn.id, thread: turn.thread };
    ring.push(turn.id, (id) => JSON.stringify(toWire(TurnFrame, { ...event, ...place, id })));
    if (event.type === "started") open.set(turn.id, ring.last);
    if (event.type === "done" || event.type === "failed") open.delete(turn.id);
    onEvent();
  });

  return {
    /** Changes whenever the numbers start again. */
    name,
    get last(): number {
      return ring.last;
    },
    get hasOpenTurns(): boolean {
      return open.size > 0;
    },
    /** Returns the position of a new reader: the start of the turns that are running, so that it gets them whole. */
    begin(): ReadPosition {
      const whole = [...open].filter(([, first]) => first >= ring.first);
      const at = Math.min(ring.last, ...whole.map(([, first]) => first - 1));
      return { at, until: ring.last, turns: new Set(whole.map(([turn]) => turn)) };
    },
    /** Returns the position after a frame that was read, or undefined if frames after it are gone. */
    resume: (after: number): ReadPosition | undefined =>
      after >= ring.first - 1 && after <= ring.last
        ? { at: after, until: after, turns: new Set() }
        : undefined,
    /** Returns the next frame and moves past it, or "lost" if the reader was too slow and frames are gone. */
    next(place: ReadPosition): Entry | "lost" | undefined {
      if (place.at < ring.first - 1) return "lost";
      for (let entry = ring.after(place.at); entry !== undefined; entry = ring.after(place.at)) {
        place.at = entry.id;
        if (entry.id > place.until || place.turns.has(entry.turn)) return entry;
      }
      return undefined;
    },
    close: unwatch,
  };
}

export interface Entry {
  readonly id: number;
  readonly turn: string;
  readonly text: string;
}

export interface RingBounds {
  readonly entries: number;
  readonly bytes: number;
}

function createRing(bounds: RingBounds) {
  let entries: Entry[] = [];
  // Entries before this index are gone. They are removed many at a time, since shifting an array costs its length.
  let head = 0;
  let bytes = 0;
  let last = 0;

  const trim = (): void => {
    while (entries.length - head > 1 && (entries.length - head > bounds.entries || bytes > bounds.bytes)) {
      bytes -= (entries[head] as Entry).text.length;
      head++;
    }
    if (head > 1024 && head * 2 > entries.length) {
      entries = entries.slice(head);
      head = 0;
    }
  };

  return {
    /** The number of the newest entry; 0 before the first. */
    get last(): number {
      return last;
    },
    /** The number of the oldest entry that is kept. */
    get first(): number {
      return entries[head]?.id ?? last + 1;
    },
    push(turn: string, frame: (id: number) => string): void {
      last++;
      const text = frame(last);
      entries.push({ id: last, turn, text });
      bytes += text.length;
      trim();
    },
    /** Returns the entry after this number, or undefined if there is none yet. */
    after(id: number): Entry | undefined {
      const first = entries[head]?.id;
      return first === undefined ? undefined : entries[head + Math.max(0, id + 1 - first)];
    },
  };
}
