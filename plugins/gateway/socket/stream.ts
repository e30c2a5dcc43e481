/** Everything that happens to one user's turns, on whatever channel, as numbered frames. */
import { randomBytes } from "node:crypto";
import { toWire } from "../../../kernel/kit.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { TurnFrame } from "./frame.ts";
import { createRing, type Entry, type RingBounds } from "./ring.ts";

const BOUNDS: RingBounds = { entries: 20_000, bytes: 8 * 1024 * 1024 };

/** A reader's place in the stream. */
export interface Place {
  /** The number of the last frame that was read. */
  at: number;
  /** Up to this number only frames of these turns matter: the others had ended when the reader came. */
  readonly until: number;
  readonly turns: ReadonlySet<string>;
}

export interface UserStream {
  /** Changes whenever numbers begin anew. */
  readonly name: string;
  readonly last: number;
  readonly hasOpenTurns: boolean;
  /** Where a new reader begins: at the start of the turns that still run, so that it sees them whole. */
  begin(): Place;
  /** Where a reader goes on after a frame it has seen; undefined where that is no longer known. */
  resume(after: number): Place | undefined;
  /** The next frame and steps over it; "lost" where the reader was too slow and frames are gone. */
  next(place: Place): Entry | "lost" | undefined;
  close(): void;
}

/** Tells a listener of every event of one user; answers its own undo. */
export type Watch = (listener: Parameters<Services["agent"]["watch"]>[1]) => () => void;

export function openStream(watch: Watch, onEvent: () => void, bounds: RingBounds = BOUNDS): UserStream {
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
    name,
    get last() {
      return ring.last;
    },
    get hasOpenTurns() {
      return open.size > 0;
    },
    begin() {
      const whole = [...open].filter(([, first]) => first >= ring.first);
      const at = Math.min(ring.last, ...whole.map(([, first]) => first - 1));
      return { at, until: ring.last, turns: new Set(whole.map(([turn]) => turn)) };
    },
    resume: (after) =>
      after >= ring.first - 1 && after <= ring.last
        ? { at: after, until: after, turns: new Set() }
        : undefined,
    next(place) {
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
