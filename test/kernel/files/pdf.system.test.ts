/** The text of PDF documents, as attachments and pages of the web get it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { extractText, getDocumentProxy } from "unpdf";
import { describe, expect, test } from "vitest";
import { createDocumentReader, type ReaderLimits } from "../../../kernel/files/document-reader.ts";
import { ROOT } from "../../support/clone.ts";
import { pdf, pdfOf, stream } from "../../support/pdf.ts";
import { afterThisTest } from "../../support/undo.ts";

function reader(limits?: ReaderLimits) {
  const made = createDocumentReader(limits);
  afterThisTest(() => made.close());
  return (data: Buffer, signal = new AbortController().signal) => made.readPages("ann", data, signal);
}

const words = (text: string) => text.normalize("NFKC").split(/\s+/).filter(Boolean);
const drawn = (operators: string) => stream(Buffer.from(operators));
const shown = (operators: string) => drawn(`BT /F1 10 Tf 72 700 Td ${operators} ET`);

describe("the pages of a PDF", () => {
  test("have the words that pdf.js finds in a document of a browser", async () => {
    const bytes = readFileSync(join(ROOT, "test", "fixtures", "pages", "report.pdf"));
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: true });
    const read = await reader()(bytes);
    expect(words("pages" in read ? read.pages.join("\n") : "")).toEqual(words(text));
  });

  test("are kept apart, and so are their lines, paragraphs and columns", async () => {
    const packed = "BT /F1 9 Tf (packed) Tj ET";
    const cases: readonly (readonly [what: string, page: Buffer, text: string])[] = [
      ["escapes", shown("(n\\341ve \\(a\\)\\\n) Tj"), "nÆve (a)"],
      ["hex", shown("<4142 4> Tj"), "AB@"],
      ["gaps that are blanks", shown("[(Wo) 20 (rd) -300 (next)] TJ"), "Word next"],
      ["a step to the next line", shown("12 TL (a) Tj (b) '"), "a\nb"],
      ["a step to another paragraph", shown("(a) Tj 0 -40 Td (b) Tj"), "a\n\nb"],
      [
        "rows of a table",
        shown("(Name) Tj 90 0 Td (Sum) Tj -90 -14 Td (Ann) Tj 90 0 Td (12) Tj"),
        "Name Sum\nAnn 12",
      ],
      ["a small number above the line", shown("(x) Tj /F1 5 Tf 5 4 Td (2) Tj"), "x2"],
      ["dots that lead to a number", shown("(Contents ................ 7) Tj"), "Contents … 7"],
      [
        "a text on its side",
        drawn("BT /F1 10 Tf 0 1 -1 0 50 50 Tm (up) Tj 0 1 -1 0 62 50 Tm (beside) Tj ET"),
        "up\nbeside",
      ],
      ["a picture within the page", drawn("BI /W 1 ID \u0001 (no) Tj EI BT /F1 9 Tf (yes) Tj ET"), "yes"],
      ["a page without text", drawn("0 0 m 1 1 l S"), ""],
      ["a packed page", stream(deflateSync(Buffer.from(packed)), "/Filter /FlateDecode"), "packed"],
      [
        "a page in hex",
        stream(Buffer.from(`${Buffer.from(packed).toString("hex")}>`), "/Filter /ASCIIHexDecode"),
        "packed",
      ],
    ];
    const read = await reader()(pdfOf(cases.map(([, page]) => page)));
    const pages = "pages" in read ? read.pages : [];
    expect(cases.map(([what], at) => [what, pages[at]])).toEqual(cases.map(([what, , text]) => [what, text]));
  });

  test("have the letters that a font gives its codes by names", async () => {
    const named = pdf("abcdef")
      .toString("latin1")
      .replace(
        "/BaseFont /Helvetica",
        "/BaseFont /Helvetica /Encoding << /Differences [97 /fi /Ccaron /uni20AC /f_f /alpha /endash] >>",
      );
    expect(await reader()(Buffer.from(named, "latin1"))).toMatchObject({ pages: ["fiČ€ffα–"] });
  });

  test("come with what the document says about itself", async () => {
    const info = "<< /Title <FEFF00DC0062> /Author (A.\\040B) /CreationDate (D:20240131120000Z) >>";
    expect(await reader()(pdfOf([shown("(x) Tj")], `/Info ${info}`))).toEqual({
      pages: ["x"],
      count: 1,
      title: "Üb",
      author: "A. B",
      created: "D:20240131120000Z",
      language: "",
    });
  });

  test("are read until there is as much text as a tool gets, and their number is said", async () => {
    const page = (pieces: number) =>
      drawn(`BT /F1 0.1 Tf ${`1 0 0 1 72 700 Tm (${"word ".repeat(100)}) Tj `.repeat(pieces)} ET`);
    const read = reader();
    const long = "word ".repeat(70_000).trimEnd();
    expect(await read(pdfOf(Array(6).fill(page(700))))).toMatchObject({
      pages: [long, long, long],
      count: 6,
    });
    expect(await read(pdfOf([page(18_000)]))).toEqual({ problem: "cannot be read: it has too much text" });
  });
});

describe("a PDF that cannot be read", () => {
  const LOCK = `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${"00".repeat(32)}> /U <${"00".repeat(32)}> /P -4 >>`;

  test.each([
    ["nothing", Buffer.from("%PDF-1.7\n"), "cannot be read: it is damaged"],
    ["pictures", pdfOf([drawn("0 0 m 1 1 l S")]), "has no text: its pages are probably pictures"],
    ["a password", pdfOf([drawn("BT ET")], LOCK), "is protected by a password"],
  ])("is %s, in words", async (_, file, problem) => {
    expect(await reader()(file)).toEqual({ problem });
  });

  test("takes too long, or the call that asked for it ends", async () => {
    expect(await reader({ millis: 1, memoryBytes: 2 ** 30 })(pdf("a"))).toEqual({
      problem: "cannot be read: it took longer than 0.001 seconds",
    });
    const problem = "could not be read: Postern is stopping";
    expect(await reader()(pdf("a"), AbortSignal.abort())).toEqual({ problem });
    expect(await reader()(pdf("a"), AbortSignal.timeout(1))).toEqual({ problem });
  });
});
