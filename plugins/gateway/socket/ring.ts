/** The last events of one user, numbered, within bounds: what a socket that comes back can catch up from. */

export interface Entry {
  readonly id: number;
  readonly turn: string;
  /** The frame as it is sent. */
  readonly text: string;
}

export interface Ring {
  /** The number of the newest entry; 0 before the first. */
  readonly last: number;
  /** The number of the oldest entry that is still there. */
  readonly first: number;
  push(turn: string, frame: (id: number) => string): void;
  /** The entry after this number; undefined where there is none yet. */
  after(id: number): Entry | undefined;
}

export interface RingBounds {
  readonly entries: number;
  readonly bytes: number;
}

export function createRing(bounds: RingBounds): Ring {
  let entries: Entry[] = [];
  // Entries before this index are gone; they are cut off in one go, since to shift an array costs its length.
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
    get last() {
      return last;
    },
    get first() {
      return entries[head]?.id ?? last + 1;
    },
    push(turn, frame) {
      last++;
      const text = frame(last);
      entries.push({ id: last, turn, text });
      bytes += text.length;
      trim();
    },
    after(id) {
      const first = entries[head]?.id;
      return first === undefined ? undefined : entries[head + Math.max(0, id + 1 - first)];
    },
  };
}
