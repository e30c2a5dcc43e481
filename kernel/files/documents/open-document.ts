/** Documents of LibreOffice: text, spreadsheets and presentations, whose contents are written in one language. */
import type { Archive } from "./archive.ts";
import { createFlow, type Flow } from "./flow.ts";
import { readPart, type Tags, without } from "./markup.ts";
import { type Passages, Unreadable } from "./passages.ts";
import { createSheet, type Sheet } from "./sheet.ts";

const MAX_SPACES = 100;
const MAX_REPEATED_CELLS = 1024;
const MAX_REPEATED_ROWS = 1_048_576;

export async function readOpenDocument(archive: Archive, passages: Passages): Promise<void> {
  await readPart(archive, "META-INF/manifest.xml", {
    open(name) {
      if (name === "encryption-data") throw new Unreadable("password");
    },
  });
  if (!archive.has("content.xml")) throw new Unreadable("broken");
  let tags: Tags | undefined;
  const flow = createFlow(passages);
  await readPart(archive, "content.xml", {
    open(name, attribute, depth) {
      if (name === "spreadsheet") tags = withoutRemarks(sheetTags(passages));
      else if (name === "body") tags = withoutRemarks(flowTags(flow));
      else tags?.open?.(name, attribute, depth);
    },
    text: (text) => tags?.text?.(text),
    close: (name, depth) => tags?.close?.(name, depth),
  });
  flow.end();
}

/** Deleted text, and remarks of people who read it. */
const LEFT_OUT: ReadonlySet<string> = new Set(["tracked-changes", "annotation", "forms"]);

const withoutRemarks = (tags: Tags): Tags => without((name) => LEFT_OUT.has(name), tags);

function count(text: string | undefined, most: number): number {
  const number = Number(text ?? 1);
  return Number.isSafeInteger(number) && number > 0 ? Math.min(number, most) : 1;
}

function flowTags(flow: Flow): Tags {
  let page = 0;
  let level = 0;
  let items = 0;
  let notes = 0;
  let isTitle = false;
  let isSpeaker = false;
  return {
    open(name, attribute) {
      if (name === "page") flow.end({ page: ++page });
      else if (name === "frame") isTitle = attribute("class") === "title";
      else if (name === "notes") isSpeaker = true;
      else if (name === "h") level = count(attribute("outline-level"), 9);
      else if (name === "list-item") items++;
      else if (name === "table-row") flow.openRow();
      else if (name === "s") flow.write(" ".repeat(count(attribute("c"), MAX_SPACES)));
      else if (name === "tab") flow.write("\t");
      else if (name === "line-break") flow.write("\n");
      else if (name === "note") {
        notes++;
        flow.write(" [");
      }
    },
    text(text) {
      flow.write(text.replaceAll(/\s+/g, " "));
    },
    close(name) {
      if (name === "note") {
        notes--;
        flow.write("]");
      } else if (name === "note-citation") flow.write(": ");
      else if (name === "notes") isSpeaker = false;
      else if (name === "list-item") items--;
      else if (name === "table-cell") flow.endCell();
      else if (name === "table-row") flow.endRow();
      else if (name === "h") flow.heading(level);
      else if (name === "p" && notes === 0) {
        if (isTitle && !isSpeaker) flow.heading(2);
        else flow.paragraph(isSpeaker ? "Notes: " : items > 0 ? "- " : "");
      }
    },
  };
}

function sheetTags(passages: Passages): Tags {
  let sheet: Sheet | undefined;
  let [row, rows, column, columns] = [0, 1, 0, 1];
  let cells: [column: number, text: string][] = [];
  let [text, isText] = ["", 0];
  return {
    open(name, attribute) {
      if (name === "table") {
        sheet = createSheet(passages, attribute("name") ?? "");
        row = 0;
      } else if (name === "table-row") {
        rows = count(attribute("number-rows-repeated"), MAX_REPEATED_ROWS);
        [column, cells] = [0, []];
      } else if (name === "table-cell" || name === "covered-table-cell") {
        columns = count(attribute("number-columns-repeated"), 16_384);
        text = "";
      } else if (name === "p") isText++;
      else if (name === "s") text += " ";
    },
    text(piece) {
      if (isText > 0) text += piece;
    },
    close(name) {
      if (name === "p") {
        isText--;
        text += " ";
      } else if (name === "table-cell" || name === "covered-table-cell") {
        const most = text.trim() === "" ? 0 : Math.min(columns, MAX_REPEATED_CELLS);
        for (let at = 1; at <= most; at++) cells.push([column + at, text]);
        column += columns;
      } else if (name === "table-row") {
        for (let at = 1; at <= (cells.length === 0 ? 0 : rows); at++) sheet?.addRow(row + at, cells);
        row += rows;
      } else if (name === "table") sheet?.end();
    },
  };
}
