/** CSV in and out, for the code that the model writes. */
import { dsvFormat } from "d3-dsv";

type Row = Record<string, unknown>;

interface ParseOptions {
  /** Found in the first line where it is not given. */
  readonly delimiter?: string;
  /** False: each row is a list of texts. */
  readonly header?: boolean;
  /** False: every value stays a text. */
  readonly types?: boolean;
}

const DELIMITERS = [",", ";", "\t", "|"];
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Longer ones are account numbers, which lose digits as numbers. */
const MAX_DIGITS = 15;

export const csv = {
  parse(text: string, { delimiter, header = true, types = true }: ParseOptions = {}): Row[] | unknown[][] {
    const bare = String(text).replace(/^\ufeff/, "");
    const format = dsvFormat(delimiter ?? likelyDelimiter(bare));
    const read = (value: string | undefined) => (types ? typed(value) : value);
    if (!header) return format.parseRows(bare, (row) => row.map(read));
    const rows = format.parse(bare, (row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name.trim(), read(value)])),
    );
    return [...rows];
  },
  format(rows: readonly Row[], { delimiter = "," }: { readonly delimiter?: string } = {}): string {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const written = rows.map((row) => columns.map((name) => asText(row[name])));
    return `${dsvFormat(delimiter).formatRows([columns, ...written])}\n`;
  },
};

function likelyDelimiter(text: string): string {
  const line =
    text
      .slice(0, 10_000)
      .split("\n", 1)[0]
      ?.replace(/"[^"]*"/g, "") ?? "";
  const counts = DELIMITERS.map((one) => line.split(one).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** A number that begins with zeros is a code, and stays a text. */
function typed(value = ""): string | number | null {
  const text = value.trim();
  if (text === "") return null;
  const isNumber = NUMBER.test(text) && text.length <= MAX_DIGITS && !/^[+-]?0\d/.test(text);
  return isNumber ? Number(text) : value;
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
