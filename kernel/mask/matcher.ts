/** The one way to hide known secrets: as UTF-8 bytes, with overlapping matches as one, so that no end is left over. */

import { readings } from "../text/decodings.ts";
import { type Automaton, createAutomaton, startCursor } from "./automaton.ts";
import { formsOf } from "./forms.ts";

const MARK = "[secret]";
const MARK_BYTES = Buffer.from(MARK);

export interface HidingStream {
  /** What may be shown now. Text that may become a known value is held until more text has decided. */
  push(text: string): string;
  end(): string;
}

export interface Matcher {
  /** True where the content holds a known value, also after undoing layers of encoding. */
  finds(content: Uint8Array | string): boolean;
  /** The text with every known value replaced; the same text where there is none. */
  hide(text: string): string;
  /** The same for bytes, which may be anything. */
  scrub(bytes: Uint8Array): Uint8Array;
}

/** The range of a match. A start below zero lies in text that has been given out already, with its mark. */
interface Span {
  readonly start: number;
  readonly end: number;
}

export function createMatcher(values: Iterable<string>): Matcher & { readonly automaton: Automaton } {
  const automaton = createAutomaton(formsOf(values));
  const holds = (bytes: Uint8Array) => automaton.next(bytes, 0, startCursor()) !== -1;
  const spansOf = (bytes: Uint8Array): readonly Span[] => {
    const spans: Span[] = [];
    collect(automaton, bytes, 0, startCursor(), spans);
    return spans;
  };
  return {
    automaton,
    finds: (content) => readings(Buffer.from(content)).some(holds),
    hide(text) {
      const bytes = Buffer.from(text);
      const spans = spansOf(bytes);
      return spans.length === 0 ? text : write(bytes, spans, bytes.length);
    },
    scrub(bytes) {
      const spans = spansOf(bytes);
      if (spans.length === 0) return bytes;
      const ends = [0, ...spans.map(({ end }) => end)];
      const pieces = spans.flatMap(({ start }, at) => [bytes.subarray(ends[at], start), MARK_BYTES]);
      return Buffer.concat([...pieces, bytes.subarray(ends.at(-1))]);
    },
  };
}

/** Hides in a text that comes in pieces what `hide` would hide in the whole. `current` may change on the way. */
export function createHidingStream(current: () => Automaton): HidingStream {
  let automaton = current();
  let cursor = startCursor();
  let spans: Span[] = [];
  let held: Buffer = Buffer.alloc(0);
  // Half of a character outside the basic plane: it has no bytes yet.
  let half = "";

  function take(text: string): Buffer {
    const bytes = Buffer.concat([held, Buffer.from(text)]);
    let from = held.length;
    if (automaton !== current()) {
      automaton = current();
      cursor = startCursor();
      spans = spans.filter(({ start }) => start < 0);
      from = 0;
    }
    collect(automaton, bytes, from, cursor, spans);
    return bytes;
  }

  /** Gives out the first bytes, which no later text can change. */
  function release(bytes: Buffer, safe: number): string {
    const text = write(bytes, spans, safe);
    spans = spans
      .filter(({ end }) => end > safe)
      .map(({ start, end }) => ({ start: start - safe, end: end - safe }));
    held = bytes.subarray(safe);
    return text;
  }

  return {
    push(delta) {
      const text = half + delta;
      half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
      const bytes = take(text.slice(0, text.length - half.length));
      return release(bytes, bytes.length - automaton.open(cursor));
    },
    end() {
      const bytes = take(half);
      half = "";
      return release(bytes, bytes.length);
    },
  };
}

/** Adds the matches from a place on, those that overlap as one. */
function collect(
  automaton: Automaton,
  bytes: Uint8Array,
  from: number,
  cursor: ReturnType<typeof startCursor>,
  spans: Span[],
): void {
  for (let end = automaton.next(bytes, from, cursor); end !== -1; end = automaton.next(bytes, end, cursor)) {
    let start = end - cursor.length;
    for (let last = spans.at(-1); last !== undefined && last.end > start; last = spans.at(-1)) {
      start = Math.min(start, last.start);
      spans.pop();
    }
    spans.push({ start, end });
  }
}

/** The text up to a place, with a mark for each match that begins in it. */
function write(bytes: Buffer, spans: readonly Span[], until: number): string {
  let text = "";
  let written = 0;
  for (const { start, end } of spans) {
    if (start >= until) break;
    if (start >= 0) text += bytes.toString("utf8", written, start) + MARK;
    written = end;
  }
  return written < until ? text + bytes.toString("utf8", written, until) : text;
}
