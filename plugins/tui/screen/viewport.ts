/** The part of the history that is on the screen. */
import { type Column, columnOf, type ScrollPosition } from "./scroll-position.ts";

/** The layout of the last frame, which scrolling and focus need. */
export interface Frame {
  readonly height: number;
  readonly column: Column;
  readonly composerWidth: number;
}

export type Viewport = ReturnType<typeof createViewport>;

export function createViewport() {
  let frame: Frame = { height: 1, column: columnOf([], 80), composerWidth: 80 };
  /** The top of the screen; undefined while it follows the end. */
  let reading: ScrollPosition | undefined;
  /** An entry that the next frame begins with, if all since then is more than a screen. */
  let first: number | undefined;

  const lastTop = () => Math.max(0, frame.column.total - frame.height);

  function top(): number {
    const line = reading && frame.column.lineOf(reading);
    return Math.min(line ?? lastTop(), lastTop());
  }

  function scroll(by: number): void {
    const next = Math.max(0, top() + by);
    reading = next >= lastTop() ? undefined : frame.column.positionAt(next);
  }

  return {
    get composerWidth() {
      return frame.composerWidth;
    },
    take(next: Frame): void {
      frame = next;
      if (first !== undefined) scroll(Math.min(0, frame.column.startOf(first) - top()));
      first = undefined;
    },
    /** What a command answers is read from its beginning. */
    begin(entry: number): void {
      first = entry;
    },
    /** Returns the first line of the history that is shown. */
    top,
    scroll,
    scrollPages: (by: 1 | -1) => scroll(by * Math.max(1, frame.height - 1)),
    followEnd(): void {
      reading = undefined;
    },
    /** True if the end of an entry is below the screen. */
    endsBelow: (entry: number) => frame.column.endOf(entry) > top() + frame.height,
    /** Scrolls to an entry that is not on the screen. */
    show(entry: number): void {
      const line = frame.column.startOf(entry);
      const from = top();
      if (line < from || line >= from + frame.height) scroll(line - 1 - from);
    },
  };
}
