/** The draft message: what each key does to it and how it wraps on the screen. Pure. */
import stringWidth from "string-width";

export interface Draft {
  readonly text: string;
  /** The cursor's UTF-16 offset; never inside a grapheme. */
  readonly cursor: number;
}

export const EMPTY: Draft = { text: "", cursor: 0 };

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const words = new Intl.Segmenter(undefined, { granularity: "word" });

export function insert({ text, cursor }: Draft, piece: string): Draft {
  return { text: text.slice(0, cursor) + piece + text.slice(cursor), cursor: cursor + piece.length };
}

export const draftOf = (text: string): Draft => ({ text, cursor: text.length });

/** The cursor's offset after each motion. */
const MOTIONS = {
  left: ({ text, cursor }: Draft) => before(graphemes, text, cursor),
  right: ({ text, cursor }: Draft) => after(graphemes, text, cursor),
  wordLeft: ({ text, cursor }: Draft) => wordStart(text, cursor),
  wordRight: ({ text, cursor }: Draft) => wordEnd(text, cursor),
  lineStart: ({ text, cursor }: Draft) => text.lastIndexOf("\n", cursor - 1) + 1,
  lineEnd: ({ text, cursor }: Draft) => {
    const end = text.indexOf("\n", cursor);
    return end === -1 ? text.length : end;
  },
} satisfies Record<string, (draft: Draft) => number>;

export type Motion = keyof typeof MOTIONS;

export function move(draft: Draft, motion: Motion): Draft {
  return { ...draft, cursor: MOTIONS[motion](draft) };
}

/** Deletes the text between the cursor and where the motion would take it. */
export function erase(draft: Draft, motion: Motion): Draft {
  const to = MOTIONS[motion](draft);
  const [from, until] = to < draft.cursor ? [to, draft.cursor] : [draft.cursor, to];
  return { text: draft.text.slice(0, from) + draft.text.slice(until), cursor: from };
}

// Only segment the cursor's line: a huge paste must not slow down typing.
function before(segmenter: Intl.Segmenter, text: string, cursor: number): number {
  const start = text.lastIndexOf("\n", cursor - 1) + 1;
  if (start === cursor) return Math.max(0, cursor - 1);
  const last = [...segmenter.segment(text.slice(start, cursor))].at(-1);
  return start + (last?.index ?? 0);
}

function after(segmenter: Intl.Segmenter, text: string, cursor: number): number {
  const end = MOTIONS.lineEnd({ text, cursor });
  if (end === cursor) return Math.min(text.length, cursor + 1);
  const [first] = segmenter.segment(text.slice(cursor, end));
  return cursor + (first?.segment.length ?? 0);
}

function wordStart(text: string, cursor: number): number {
  let at = before(words, text, cursor);
  while (at > 0 && /^\s/.test(text.slice(at))) at = before(words, text, at);
  return at;
}

function wordEnd(text: string, cursor: number): number {
  let at = cursor;
  while (at < text.length && /^\s/.test(text.slice(at))) at = after(words, text, at);
  return after(words, text, at);
}

export interface Row {
  readonly text: string;
  /** Offset of the row's first character in the draft. */
  readonly start: number;
}

/** Wraps the draft to a width in columns. */
export function layOut({ text, cursor }: Draft, width: number) {
  const rows: Row[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    for (const piece of pieces(line, width)) rows.push({ text: piece.text, start: at + piece.start });
    at += line.length + 1;
  }
  const row = rows.findLastIndex(({ start }) => start <= cursor);
  const { text: shown = "", start = 0 } = rows[row] ?? {};
  return { rows, cursor: { row: Math.max(0, row), column: stringWidth(shown.slice(0, cursor - start)) } };
}

/** Moves up or down one row, keeping the column if the row is long enough; undefined at the edge. */
export function moveRow(draft: Draft, width: number, by: 1 | -1): Draft | undefined {
  const { rows, cursor } = layOut(draft, width);
  const row = rows[cursor.row + by];
  if (row === undefined) return undefined;
  let at = row.start;
  let column = 0;
  for (const { segment } of graphemes.segment(row.text)) {
    column += stringWidth(segment);
    if (column > cursor.column) break;
    at += segment.length;
  }
  return { ...draft, cursor: at };
}

const SIMPLE = /^[\x20-\x7e]*$/;

function pieces(line: string, width: number): readonly Row[] {
  // Strictly less: a full row would leave no cell for the cursor after its last character.
  if (SIMPLE.test(line) && line.length < width) return [{ text: line, start: 0 }];
  const found: Row[] = [];
  let start = 0;
  let used = 0;
  for (const { segment, index } of graphemes.segment(line)) {
    const cells = stringWidth(segment);
    if (used + cells > width - 1 && index > start) {
      found.push({ text: line.slice(start, index), start });
      start = index;
      used = 0;
    }
    used += cells;
  }
  return [...found, { text: line.slice(start), start }];
}
