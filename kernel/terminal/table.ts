/**
 * Tables for people: a head and rows. On a terminal they fit its width: columns give way from the widest on, by words, and
 * where even that is too wide, each row becomes a few lines. Piped, nothing is broken, and only columns that may be cut have an end.
 */

import { createRequire } from "node:module";
import { stripVTControlCharacters, styleText } from "node:util";
import type * as StringWidth from "string-width";
import type * as WrapAnsi from "wrap-ansi";
import type { PluginState } from "../plugin.ts";
import { visibleLine } from "../text/visible.ts";

export interface TableOptions {
  readonly indent?: string;
  /** Heads of columns whose cells end with an ellipsis instead of going on below: at the terminal's width, or after 200 characters where there is none. */
  readonly cut?: readonly string[];
  /** That of the terminal, unless told; unlimited where there is none. */
  readonly width?: number;
  /** The colour of a cell by its column's head, for what people look out for. None where standard output takes no colours. */
  readonly colours?: Readonly<Record<string, (cell: string) => Colour | undefined>>;
}

export type Colour = "red" | "yellow" | "green" | "gray";

const PLAIN = /^[ -~]*$/;

function stringWidth(text: string): number {
  const bare = stripVTControlCharacters(text);
  if (PLAIN.test(bare)) return bare.length;
  // Loaded for the first text that needs it, as is what wraps: they take longer than most commands do.
  return (createRequire(import.meta.url)("string-width") as typeof StringWidth).default(bare);
}

function wrap(text: string, width: number): readonly string[] {
  if (stringWidth(text) <= width && !text.includes("\n")) return [text];
  return (createRequire(import.meta.url)("wrap-ansi") as typeof WrapAnsi).default(text, width).split("\n");
}

const GAP = "  ";
/** A column is not made narrower for the sake of the others. */
const LEAST = 8;
/** A stranger's description may have thousands of characters. */
const MAX_CUT_WIDTH = 200;

export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { indent = "", cut = [], width = terminalWidth(), colours = {} }: TableOptions = {},
): string {
  const paint = (cell: string, column: number): string => {
    const colour = colours[head[column] ?? ""]?.(cell);
    return colour === undefined ? cell : styleText(colour, cell, { stream: process.stdout });
  };
  // A cell that broke its line could pass for a row.
  const lines = [head, ...rows.map((row) => row.map(visibleLine).map(paint))];
  const room = width - indent.length - GAP.length * (head.length - 1);
  const isCut = head.map((name) => cut.includes(name));
  const columns = head.map((_, column) => measure(lines, column, isCut[column] === true));
  const widths = shrink(columns, room);
  const shown =
    widths === undefined
      ? lines.slice(1).flatMap((row) => {
          const pairs = row.map((cell, at) => [lines[0]?.[at] ?? "", cell]).filter(([, cell]) => cell !== "");
          return [...asPairs(pairs, width - indent.length, LEAST, cut), ""];
        })
      : lines.flatMap((row) => asLines(row, widths, isCut));
  return shown.map((line) => `${`${indent}${line}`.trimEnd()}\n`).join("");
}

/** Names and values of one thing, which need no head; values go on below themselves. */
export function fields(
  rows: readonly (readonly string[])[],
  { indent = "", width = terminalWidth() }: Pick<TableOptions, "indent" | "width"> = {},
): string {
  const shown = rows.map((row) => row.map(visibleLine));
  return asPairs(shown, width - indent.length, LEAST * 2)
    .map((line) => `${`${indent}${line}`.trimEnd()}\n`)
    .join("");
}

const terminalWidth = (): number =>
  (process.stdout.isTTY ? process.stdout.columns : undefined) ?? Number.POSITIVE_INFINITY;

interface Column {
  readonly widest: number;
  readonly least: number;
}

function measure(lines: readonly (readonly string[])[], column: number, isCut: boolean): Column {
  let [widest, least] = [0, 0];
  for (const [at, row] of lines.entries()) {
    const cell = row[column] ?? "";
    widest = Math.max(widest, Math.min(stringWidth(cell), isCut ? MAX_CUT_WIDTH : Number.POSITIVE_INFINITY));
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
  isCut: readonly boolean[],
): readonly string[] {
  const cells = row.map((cell, at) => {
    const width = widths[at] ?? Number.POSITIVE_INFINITY;
    // A word wider than the column, such as an address, stays whole so that it can be copied.
    return isCut[at] ? [shorten(cell, width)] : wrap(cell, width);
  });
  const height = Math.max(1, ...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) =>
    cells.map((cell, at) => pad(cell[line] ?? "", at === cells.length - 1 ? 0 : (widths[at] ?? 0))).join(GAP),
  );
}

function asPairs(
  rows: readonly (readonly string[])[],
  width: number,
  least = LEAST,
  cut: readonly string[] = [],
): readonly string[] {
  const names = Math.max(0, ...rows.map(([name = ""]) => stringWidth(name)));
  const room = Math.max(least, width - names - GAP.length);
  return rows.flatMap(([name = "", value = ""]) =>
    asLines([name, value], [names, room], [false, cut.includes(name)]),
  );
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
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

const STATES: TableOptions["colours"] = { STATE: (state) => (state === "on" ? "green" : "gray") };

/** The start-up table, which `postern status` shows too. It is painted. */
export function pluginTable(states: readonly PluginState[]): string {
  const rows = states
    .filter(({ kind }) => kind !== "part")
    .map(({ name, on, detail }) => [name, on ? "on" : "off", detail]);
  return table(["PLUGIN", "STATE", "DETAIL"], rows, { indent: "  ", colours: STATES });
}
