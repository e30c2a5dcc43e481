/** Running text: paragraphs, lists and tables, cut into passages at its headings. */
import type { Passages, Place } from "./passages.ts";

export type Flow = ReturnType<typeof createFlow>;

type Piece = "paragraph" | "item" | "row";

interface Row {
  readonly cells: string[];
  /** Of the cell that is open. */
  readonly lines: string[];
}

const MAX_LEVEL = 6;
/** It comes with each passage below it. */
const MAX_HEADING_LENGTH = 300;
const MAX_PASSAGE_LENGTH = 8000;
const MAX_PARAGRAPH_LENGTH = 2 ** 20;

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

export function createFlow(passages: Passages, start: Place = {}) {
  let place = start;
  let section = "";
  let last: Piece | undefined;
  let line = "";
  const rows: Row[] = [];

  function flush(): void {
    const text = section;
    section = "";
    last = undefined;
    passages.add(text, place);
  }

  function add(text: string, piece: Piece): void {
    const row = rows.at(-1);
    if (row) {
      row.lines.push(inOneLine(text));
      return;
    }
    const isNext = piece === last && piece !== "paragraph";
    section += `${section === "" ? "" : isNext ? "\n" : "\n\n"}${text}`;
    last = piece;
    if (section.length > MAX_PASSAGE_LENGTH) flush();
  }

  function paragraph(mark = ""): void {
    const text = line.trim();
    line = "";
    if (text !== "") add(mark + text, mark === "" ? "paragraph" : "item");
  }

  return {
    write(text: string): void {
      line += text;
      if (line.length > MAX_PARAGRAPH_LENGTH) paragraph();
    },
    /** Ends the paragraph that is open. */
    paragraph,
    heading(level: number): void {
      const text = inOneLine(line);
      if (text === "" || rows.length > 0) {
        paragraph();
        return;
      }
      line = "";
      flush();
      place = { ...place, heading: text.slice(0, MAX_HEADING_LENGTH).toWellFormed() };
      add(`${"#".repeat(Math.min(Math.max(level, 1), MAX_LEVEL))} ${text}`, "paragraph");
    },
    openRow(): void {
      paragraph();
      rows.push({ cells: [], lines: [] });
    },
    endCell(): void {
      paragraph();
      const row = rows.at(-1);
      row?.cells.push(row.lines.splice(0).join(" "));
    },
    endRow(): void {
      paragraph();
      const cells = rows.pop()?.cells ?? [];
      if (cells.some((cell) => cell !== "")) add(cells.join(" | "), "row");
    },
    /** Ends the passage: what follows stands somewhere else. */
    end(next: Place = {}): void {
      paragraph();
      flush();
      place = next;
    },
  };
}
