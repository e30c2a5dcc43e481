/** A workbook of Excel: what its cells show, sheet by sheet. Formulas count by their last result. */
import type { Archive } from "./archive.ts";
import { type Relation, readPart, targetOf } from "./markup.ts";
import type { Passages } from "./passages.ts";
import { createSheet, placeOf } from "./sheet.ts";

type NumberForm = "plain" | "percent" | "date" | "time" | "duration";

interface Book {
  readonly strings: readonly string[];
  /** By the number of a cell's style. */
  readonly forms: readonly NumberForm[];
  readonly isFrom1904: boolean;
}

export async function readWorkbook(
  archive: Archive,
  part: string,
  relations: ReadonlyMap<string, Relation>,
  passages: Passages,
): Promise<void> {
  const sheets: (readonly [name: string, id: string])[] = [];
  let isFrom1904 = false;
  await readPart(archive, part, {
    open(name, attribute) {
      // Of its two ids, the sheet's number is `sheetId`.
      if (name === "sheet") sheets.push([attribute("name") ?? "", attribute("id") ?? ""]);
      if (name === "workbookPr") isFrom1904 = /^(?:1|true)$/.test(attribute("date1904") ?? "");
    },
  });
  const book: Book = {
    strings: await stringsOf(archive, targetOf(relations, "sharedStrings")),
    forms: await formsOf(archive, targetOf(relations, "styles")),
    isFrom1904,
  };
  for (const [name, id] of sheets) {
    const file = relations.get(id)?.target;
    if (file !== undefined) await readSheet(archive, file, name, book, passages);
  }
}

async function stringsOf(archive: Archive, part: string | undefined): Promise<readonly string[]> {
  const strings: string[] = [];
  let [text, isText, isReading] = ["", false, false];
  if (part !== undefined)
    await readPart(archive, part, {
      open(name) {
        if (name === "si") text = "";
        if (name === "rPh") isReading = true;
        isText = name === "t" && !isReading;
      },
      text(piece) {
        if (isText) text += piece;
      },
      close(name) {
        isText = false;
        if (name === "rPh") isReading = false;
        if (name === "si") strings.push(text);
      },
    });
  return strings;
}

async function formsOf(archive: Archive, part: string | undefined): Promise<readonly NumberForm[]> {
  const own = new Map<string, NumberForm>();
  const forms: NumberForm[] = [];
  let isOfCells = false;
  if (part !== undefined)
    await readPart(archive, part, {
      open(name, attribute) {
        const id = attribute("numFmtId") ?? "";
        if (name === "numFmt") own.set(id, formOf(attribute("formatCode") ?? ""));
        if (name === "cellXfs") isOfCells = true;
        if (name === "xf" && isOfCells) forms.push(own.get(id) ?? builtInForm(Number(id)));
      },
      close(name) {
        if (name === "cellXfs") isOfCells = false;
      },
    });
  return forms;
}

function formOf(code: string): NumberForm {
  // Only the form of positive numbers, without quoted text, colours and escaped letters.
  const [positive = ""] = code.replaceAll(/"[^"]{0,255}"|\\.|_./g, "").split(";");
  if (/\[(?:h+|m+|s+)\]/i.test(positive)) return "duration";
  const letters = positive.replaceAll(/\[[^\]]{0,255}\]/g, "");
  if (/[dy]/i.test(letters)) return "date";
  if (/[hs]/i.test(letters)) return "time";
  if (/m/i.test(letters) && !/general/i.test(letters)) return "date";
  return letters.includes("%") ? "percent" : "plain";
}

function builtInForm(id: number): NumberForm {
  if (id === 9 || id === 10) return "percent";
  if ((id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return "date";
  if ((id >= 18 && id <= 21) || id === 45 || id === 47) return "time";
  return id === 46 ? "duration" : "plain";
}

async function readSheet(
  archive: Archive,
  file: string,
  name: string,
  { strings, forms, isFrom1904 }: Book,
  passages: Passages,
): Promise<void> {
  const sheet = createSheet(passages, name);
  let [row, column] = [0, 0];
  let cells: [column: number, text: string][] = [];
  let [value, formula, type, form]: [string, string, string, NumberForm] = ["", "", "", "plain"];
  let inside: "v" | "f" | "t" | undefined;

  function shown(): string {
    if (value === "") return formula === "" ? "" : `=${formula}`;
    if (type === "s") return strings[Number(value)] ?? "";
    if (type === "b") return value === "1" ? "TRUE" : "FALSE";
    return type === "" || type === "n" ? numberInWords(value, form, isFrom1904) : value;
  }

  await readPart(archive, file, {
    open(tag, attribute) {
      if (tag === "row") {
        row = Number(attribute("r") ?? row + 1);
        column = 0;
        cells = [];
      } else if (tag === "c") {
        const place = placeOf(attribute("r") ?? "");
        column = place?.[1] ?? column + 1;
        [value, formula, type] = ["", "", attribute("t") ?? ""];
        form = forms[Number(attribute("s") ?? 0)] ?? "plain";
      } else inside = tag === "v" || tag === "f" || tag === "t" ? tag : undefined;
    },
    text(text) {
      if (inside === "f") formula += text;
      else if (inside !== undefined) value += text;
    },
    close(tag) {
      inside = undefined;
      if (tag === "c") cells.push([column, shown()]);
      else if (tag === "row") sheet.addRow(row, cells);
    },
  });
  sheet.end();
}

/** The day 0 of each calendar, as days before 1970. */
const DAY_0 = 25_569;
const DAY_0_OF_1904 = 24_107;
/** Excel has a 29 February 1900, which never was. */
const MISSING_DAY = 60;
const LAST_DAY = 2_958_466;

function numberInWords(value: string, form: NumberForm, isFrom1904: boolean): string {
  const number = Number(value);
  if (!Number.isFinite(number)) return value;
  // Excel shows fifteen digits at most.
  const rounded = (one: number) => `${Number(one.toPrecision(15))}`;
  if (form === "percent") return `${rounded(number * 100)}%`;
  if (form === "plain" || number < 0 || number >= LAST_DAY) return rounded(number);
  if (form === "duration") {
    const seconds = Math.round(number * 86_400);
    const two = (part: number) => `${Math.floor(part)}`.padStart(2, "0");
    return `${Math.floor(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`;
  }
  const days = isFrom1904 ? number - DAY_0_OF_1904 : number - DAY_0 + (number < MISSING_DAY ? 1 : 0);
  const [date = "", time = ""] = new Date(Math.round(days * 86_400) * 1000)
    .toISOString()
    .slice(0, 19)
    .split("T");
  const isWhole = Math.round(number * 86_400) % 86_400 === 0;
  if (form === "time" && number < 1) return time;
  return isWhole ? date : `${date} ${time}`;
}
