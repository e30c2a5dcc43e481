/** A Markdown table of rows. */
type Row = Record<string, unknown>;

const MAX_ROWS = 1000;

/** `rows` are objects, lists, or a Map. */
export function table(rows: Iterable<unknown>, columns?: readonly string[]): string {
  const all = [...rows];
  const shown = all.slice(0, MAX_ROWS).map(asRow);
  const names = columns ?? [...new Set(shown.flatMap((row) => Object.keys(row)))];
  const lines = shown.map((row) => names.map((name) => row[name]));
  const isNumeric = names.map((_, at) => lines.every((line) => typeof line[at] === "number"));
  const head = [
    rowOf(names.map(cell)),
    rowOf(isNumeric.map((is) => (is ? "---:" : "---"))),
    ...lines.map((line) => rowOf(line.map(cell))),
  ];
  const rest = all.length - shown.length;
  return `${[...head, ...(rest > 0 ? [`… ${rest} more rows`] : [])].join("\n")}\n`;
}

function asRow(row: unknown): Row {
  if (Array.isArray(row)) return Object.fromEntries(row.map((value, at) => [`${at + 1}`, value]));
  return typeof row === "object" && row !== null ? (row as Row) : { value: row };
}

const rowOf = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (value instanceof Date) return value.toISOString().replace("T00:00:00.000Z", "");
  const text = typeof value === "object" ? JSON.stringify(value) : String(rounded(value));
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|");
}

/** Binary fractions are not shown with all their digits. */
const rounded = (value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(10)) : value;
