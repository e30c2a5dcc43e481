/**
 * Tables for people: a head and rows. On a terminal they fit its width: columns give way from the widest on, by words, and
 * where even that is too wide, each row becomes a few lines. Piped, nothing is cut or broken.
 */
import stringWidth from "string-width";
import { visibleLine } from "../text/visible.ts";

export interface TableOptions {
  readonly indent?: string;
  /** Heads of columns whose cells end with an ellipsis on a terminal instead of going on below. */
  readonly cut?: readonly string[];
  /** That of the terminal, unless told; unlimited where there is none. */
  readonly width?: number;
}

const GAP = "  ";
/** A column is not made narrower for the sake of the others. */
const LEAST = 8;

export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { indent = "", cut = [], width = terminalWidth() }: TableOptions = {},
): string {
  // A cell that broke its line could pass for a row.
  const lines = [head, ...rows].map((row) => row.map(visibleLine));
  const room = width - indent.length - GAP.length * (head.length - 1);
  const isCut = head.map((name) => cut.includes(name));
  const columns = head.map((_, column) => measure(lines, column, isCut[column] === true));
  const widths = shrink(columns, room);
  const shown =
    widths === undefined
      ? lines.slice(1).flatMap((row) => asCard(lines[0] as readonly string[], row, width - indent.length))
      : lines.flatMap((row) => asLines(row, widths, isCut));
  return shown
    .map((line) => `${indent}${line}`.trimEnd())
    .map((line) => `${line}\n`)
    .join("");
}

/** Names and values of one thing, which need no head; values go on below themselves. */
export function fields(
  rows: readonly (readonly string[])[],
  { indent = "", width = terminalWidth() }: Pick<TableOptions, "indent" | "width"> = {},
): string {
  const shown = rows.map(([name = "", value = ""]) => [visibleLine(name), visibleLine(value)] as const);
  const names = Math.max(0, ...shown.map(([name]) => stringWidth(name)));
  const room = Math.max(LEAST * 2, width - indent.length - names - GAP.length);
  return shown
    .flatMap(([name, value]) => asLines([name, value], [names, room], [false, false]))
    .map((line) => `${`${indent}${line}`.trimEnd()}\n`)
    .join("");
}

function terminalWidth(): number {
  return process.stdout.isTTY
    ? (process.stdout.columns ?? Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY;
}

interface Column {
  readonly widest: number;
  /** The width it needs where no word is broken. */
  readonly least: number;
}

function measure(lines: readonly (readonly string[])[], column: number, isCut: boolean): Column {
  let [widest, least] = [0, 0];
  for (const [at, row] of lines.entries()) {
    const cell = row[column] ?? "";
    widest = Math.max(widest, stringWidth(cell));
    // A column that may be cut needs no more than its head.
    if (!isCut || at === 0) for (const word of cell.split(" ")) least = Math.max(least, stringWidth(word));
  }
  return { widest, least: Math.min(widest, Math.max(least, isCut ? LEAST * 2 : LEAST)) };
}

/** Takes missing width from the widest columns; returns undefined where words would break. */
function shrink(columns: readonly Column[], room: number): readonly number[] | undefined {
  const widths = columns.map(({ widest }) => widest);
  let missing = widths.reduce((sum, one) => sum + one, 0) - room;
  while (missing > 0) {
    const givable = columns.map(({ least }, at) => (widths[at] as number) - least);
    const givers = widths.map((one, at) => ((givable[at] as number) > 0 ? one : 0));
    const widest = Math.max(...givers);
    if (widest === 0) return undefined;
    // Down to the next widest, or to what it needs.
    const at = givers.indexOf(widest);
    const next = Math.max(0, ...givers.filter((one, other) => other !== at && one < widest));
    const step = Math.max(1, Math.min(missing, givable[at] as number, widest - next));
    widths[at] = widest - step;
    missing -= step;
  }
  return widths;
}

function asLines(
  row: readonly string[],
  widths: readonly number[],
  isCut: readonly (boolean | undefined)[],
): readonly string[] {
  const cells = row.map((cell, at) => {
    const width = widths[at] ?? Number.POSITIVE_INFINITY;
    return isCut[at] ? [shorten(cell, width)] : wrap(cell, width);
  });
  const height = Math.max(1, ...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) =>
    cells.map((cell, at) => pad(cell[line] ?? "", at === cells.length - 1 ? 0 : (widths[at] ?? 0))).join(GAP),
  );
}

function asCard(head: readonly string[], row: readonly string[], width: number): readonly string[] {
  const names = Math.max(...head.map((name) => stringWidth(name)));
  const room = Math.max(LEAST, width - names - GAP.length);
  const told = head.flatMap((name, at) => {
    const cell = row[at] ?? "";
    return cell === "" ? [] : asLines([name, cell], [names, room], [false, false]);
  });
  return [...told, ""];
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
}

/** Wraps at words. A word wider than the column, such as an address, stays whole so that it can be copied. */
function wrap(text: string, width: number): readonly string[] {
  if (stringWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const word of text.split(" ")) {
    const size = stringWidth(word);
    if (line !== "" && used + 1 + size > width) {
      lines.push(line);
      [line, used] = [word, size];
    } else if (line === "") [line, used] = [word, size];
    else [line, used] = [`${line} ${word}`, used + 1 + size];
  }
  return [...lines, line];
}

function shorten(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const char of text) {
    used += stringWidth(char);
    if (used > width) break;
    kept += char;
  }
  return `${kept.trimEnd()}…`;
}
