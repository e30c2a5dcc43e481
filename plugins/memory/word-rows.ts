/** A document's rows in SQLite's word index: FTS5 writes a row at a stretch, so one of many words has several. */

const MAX_ROWS = 32;
const ROW_WORDS = 4000;
const STEP = 2 ** 40;

/** An empty row of a document whose later rows are yet to be written, below all others. */
export const unfinishedRow = (document: number): number => document - MAX_ROWS * STEP;
export const UNFINISHED = `rowid <= ${unfinishedRow(STEP)}`;

/** The numbers of all rows that a document may have, in SQL. */
export const rowsOf = (document: string): string =>
  Array.from({ length: MAX_ROWS + 1 }, (_, at) => `${document} - ${at * STEP}`).join();

/** The document of a later row, in SQL. Their numbers are below zero. */
export const documentOf = (row: string): string => `(${row} % ${STEP} + ${STEP})`;

/** The numbers and words of a document's rows. */
export function wordRows(document: number, words: readonly string[]): [number, readonly string[]][] {
  const count = Math.min(MAX_ROWS, Math.max(1, Math.ceil(words.length / ROW_WORDS)));
  return Array.from({ length: count }, (_, at) => [
    document - at * STEP,
    words.slice(at * ROW_WORDS, at === MAX_ROWS - 1 ? undefined : (at + 1) * ROW_WORDS),
  ]);
}
