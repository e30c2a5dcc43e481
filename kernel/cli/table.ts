/** Columns padded to their widest cell; the last one runs free. */
import { visibleLine } from "../mask/visible.ts";

export function table(given: readonly (readonly string[])[], indent = "  "): string {
  // A cell that broke its line could pass for a row.
  const rows = given.map((row) => row.map(visibleLine));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join("  "),
  );
  return lines.map((line) => `${indent}${line.trimEnd()}\n`).join("");
}
