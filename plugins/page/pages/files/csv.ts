/** Reads separated values: quoted fields, doubled quotes, line breaks within quotes. Linear, and ends after so many rows. */

/** Without a separator, the one of `,`, `;` and tab that the first line has most of. */
export function parseCsv(
  text: string,
  maxRows: number,
  separator = guessSeparator(text),
): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = "";
  let isQuoted = false;
  const endField = () => {
    row.push(field);
    field = "";
  };
  const endRow = () => {
    endField();
    rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length && rows.length < maxRows; at++) {
    const sign = text.charAt(at);
    if (isQuoted) {
      if (sign !== '"') field += sign;
      else if (text.charAt(at + 1) === '"') {
        field += sign;
        at++;
      } else isQuoted = false;
    } else if (sign === '"' && field === "") isQuoted = true;
    else if (sign === separator) endField();
    else if (sign === "\n") endRow();
    else if (sign !== "\r" || text.charAt(at + 1) !== "\n") field += sign;
  }
  if ((field !== "" || row.length > 0) && rows.length < maxRows) endRow();
  return rows;
}

function guessSeparator(text: string): string {
  const [line = ""] = text.split("\n", 1);
  const count = (sign: string) => line.split(sign).length;
  return [",", ";", "\t"].toSorted((a, b) => count(b) - count(a))[0] ?? ",";
}
