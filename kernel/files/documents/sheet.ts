/** The rows of a spreadsheet, cut into passages that say which cells they have. */
import type { Passages } from "./passages.ts";

export type Sheet = ReturnType<typeof createSheet>;

/** Excel allows 31 characters. */
const MAX_NAME_LENGTH = 100;
const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const ROWS_PER_PASSAGE = 40;
const MAX_PASSAGE_LENGTH = 4000;
/** Columns are counted by their separators, unless more of them are empty. */
const MAX_GAP = 20;
const LETTERS = 26;

/** `row` and `column`: from 1. */
export function createSheet(passages: Passages, title: string) {
  const name = title.slice(0, MAX_NAME_LENGTH).toWellFormed();
  const quoted = /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(name) ? name : `'${name.replaceAll("'", "''")}'`;
  let lines: string[] = [];
  let length = 0;
  let [top, bottom, left, right] = [0, 0, MAX_COLUMNS, 1];

  function flush(): void {
    if (lines.length === 0) return;
    const text = lines.join("\n");
    const cells = `${quoted}!${columnName(left)}${top}:${columnName(right)}${bottom}`;
    lines = [];
    length = 0;
    [left, right] = [MAX_COLUMNS, 1];
    passages.add(text, { cells });
  }

  return {
    addRow(row: number, cells: readonly (readonly [column: number, text: string])[]): void {
      let line = `${row}`;
      let at = 0;
      for (const [column, text] of cells) {
        const said = text.replaceAll(/\s+/g, " ").trim();
        if (said === "" || column <= at || column > MAX_COLUMNS) continue;
        const gap = column - at;
        line += gap > MAX_GAP ? ` | … ${columnName(column)}: ${said}` : `${" |".repeat(gap)} ${said}`;
        at = column;
        [left, right] = [Math.min(left, column), Math.max(right, column)];
      }
      if (at === 0 || row < 1 || row > MAX_ROWS) return;
      if (lines.length === 0) top = row;
      bottom = row;
      lines.push(line);
      length += line.length;
      if (lines.length >= ROWS_PER_PASSAGE || length > MAX_PASSAGE_LENGTH) flush();
    },
    end: flush,
  };
}

function columnName(column: number): string {
  let name = "";
  for (let left = column; left > 0; left = Math.floor((left - 1) / LETTERS))
    name = String.fromCharCode(65 + ((left - 1) % LETTERS)) + name;
  return name;
}

/** Undefined where it is no place in a sheet. */
export function placeOf(reference: string): readonly [row: number, column: number] | undefined {
  const [, letters, row] = /^([A-Z]{1,3})([1-9]\d{0,6})$/.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * LETTERS + letter.charCodeAt(0) - 64;
  return [Number(row), column];
}
