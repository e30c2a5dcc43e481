/** The scroll position in the history, kept by the text at the top, so that another width does not move it. Pure. */
import { stripVTControlCharacters } from "node:util";

export interface ScrollPosition {
  readonly entry: number;
  /** The line within the entry, at `width`. */
  readonly line: number;
  readonly width: number;
  /** The amount of the entry's text above the line, which is the same at any width. */
  readonly above: number;
}

export interface RenderedEntry {
  readonly id: number;
  readonly lines: readonly string[];
}

export type Column = ReturnType<typeof columnOf>;

/** Lays the history out as one column of lines. */
export function columnOf(entries: readonly RenderedEntry[], width: number) {
  const starts = new Map<number, number>();
  let end = 0;
  for (const { id, lines } of entries) {
    starts.set(id, end);
    end += lines.length;
  }
  return {
    // The blank line below the last entry separates nothing.
    total: Math.max(0, end - 1),
    /** Returns the line on which an entry starts. */
    startOf: (entry: number) => starts.get(entry) ?? 0,
    /** Returns the line after an entry, without the blank one below it. */
    endOf: (entry: number) => (starts.get(entry) ?? 0) + textHeight(entries.find(({ id }) => id === entry)),
    positionAt(at: number): ScrollPosition | undefined {
      const found = entries.findLast(({ id }) => (starts.get(id) ?? 0) <= at);
      if (found === undefined) return undefined;
      const line = Math.min(at - (starts.get(found.id) ?? 0), found.lines.length);
      return { entry: found.id, line, width, above: amountOf(found.lines.slice(0, line)) };
    },
    /** Undefined if the entry is no longer there. */
    lineOf(position: ScrollPosition): number | undefined {
      const found = entries.find(({ id }) => id === position.entry);
      if (found === undefined) return undefined;
      const line = position.width === width ? position.line : lineBelow(found.lines, position.above);
      return (starts.get(found.id) ?? 0) + Math.min(line, found.lines.length);
    },
    slice(from: number, until: number): readonly string[] {
      const shown: string[] = [];
      for (const { id, lines } of entries) {
        const start = starts.get(id) ?? 0;
        if (start + lines.length > from && start < until)
          shown.push(...lines.slice(Math.max(0, from - start), Math.max(0, until - start)));
      }
      return shown;
    },
  };
}

const textHeight = (entry?: RenderedEntry) => (entry?.lines.findLastIndex((line) => line !== "") ?? -1) + 1;

// Wrapping moves spaces and repeats what stands before each line.
const BETWEEN_WORDS = /[\s│▎─┼]/gu;

const amountIn = (line: string) => stripVTControlCharacters(line).replace(BETWEEN_WORDS, "").length;
const amountOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + amountIn(line), 0);

/** The last line with no more than this above it. */
function lineBelow(lines: readonly string[], above: number): number {
  let passed = 0;
  for (const [index, line] of lines.entries()) {
    passed += amountIn(line);
    if (passed > above) return index;
  }
  return lines.length;
}
