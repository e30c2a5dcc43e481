/** Reads separated values, at most so many rows of them. */
import { dsvFormat } from "d3-dsv";

/** Without a separator, the one of `,`, `;` and tab that the first line has most of. */
export function parseCsv(
  text: string,
  maxRows: number,
  separator = guessSeparator(text),
): readonly (readonly string[])[] {
  return dsvFormat(separator).parseRows(text).slice(0, maxRows);
}

function guessSeparator(text: string): string {
  const [line = ""] = text.split("\n", 1);
  const count = (sign: string) => line.split(sign).length;
  return [",", ";", "\t"].toSorted((a, b) => count(b) - count(a))[0] ?? ",";
}
