/** The text of PDF documents, beside what pdf.js reads of the same files. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { extractText, getDocumentProxy } from "unpdf";
import { describe, expect, test } from "vitest";
import { readPdf } from "../../../components/read-page/pdf.ts";
import { pdf, pdfOf, stream } from "../../support/pdf.ts";
import { FOLDER } from "./pages.ts";

const words = (text: string) => text.normalize("NFKC").split(/\s+/).filter(Boolean);
const drawn = (operators: string) => pdfOf([stream(Buffer.from(operators))]);
const textOf = (document: Buffer) => readPdf(document).content.replaceAll(/\[Page \d+\]\n\n/g, "");

describe("the text of a PDF", () => {
  test("has the words that pdf.js finds in a document of a browser", async () => {
    const bytes = readFileSync(join(FOLDER, "report.pdf"));
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: true });
    expect(words(textOf(bytes))).toEqual(words(text));
  });

  test("comes page by page, line by line", () => {
    expect(readPdf(pdf("One\nTwo (2) \\ three", "Three")).content).toBe(
      "[Page 1]\n\nOne\nTwo (2) \\ three\n\n[Page 2]\n\nThree",
    );
  });

  test.each([
    ["escapes", "BT /F1 9 Tf (n\\341ve \\(a\\)\\\n) Tj ET", "nÆve (a)"],
    ["hex", "BT /F1 9 Tf <4142 4> Tj ET", "AB@"],
    ["gaps that are blanks", "BT /F1 10 Tf [(Wo) 20 (rd) -300 (next)] TJ ET", "Word next"],
    ["a step to the next line", "BT /F1 10 Tf 12 TL (a) Tj (b) ' ET", "a\nb"],
    ["a step to another paragraph", "BT /F1 10 Tf (a) Tj 0 -40 Td (b) Tj ET", "a\n\nb"],
    [
      "a text on its side",
      "BT /F1 10 Tf 0 1 -1 0 50 50 Tm (up) Tj 0 1 -1 0 62 50 Tm (beside) Tj ET",
      "up\nbeside",
    ],
    ["a picture within the page", "BI /W 1 ID \u0001 (no) Tj EI BT /F1 9 Tf (yes) Tj ET", "yes"],
  ])("knows %s", (_, operators, text) => {
    expect(textOf(drawn(operators))).toBe(text);
  });

  test("is found in every packing that text comes in", () => {
    const content = Buffer.from("BT /F1 9 Tf (packed) Tj ET");
    const hex = Buffer.from(`${content.toString("hex")}>`);
    expect(textOf(pdfOf([stream(deflateSync(content), "/Filter /FlateDecode")]))).toBe("packed");
    expect(textOf(pdfOf([stream(hex, "/Filter /ASCIIHexDecode")]))).toBe("packed");
    expect(textOf(pdfOf([stream(Buffer.from("87cURD]j7BEbo80~>"), "/Filter /ASCII85Decode")]))).toBe("");
    const cut = deflateSync(Buffer.from(`BT /F1 9 Tf (first) Tj ${"(more) Tj ".repeat(5_000)}`)).subarray(
      0,
      60,
    );
    expect(textOf(pdfOf([stream(cut, "/Filter /FlateDecode")]))).toMatch(/^first/);
  });

  test("reads objects that are packed together, and the newest of each number", () => {
    const inside = "<< /Type /Page /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>";
    const index = "4 0 ";
    const packed = stream(
      deflateSync(Buffer.from(index + inside)),
      `/Type /ObjStm /N 1 /First ${index.length} /Filter /FlateDecode`,
    );
    const whole = pdf("one")
      .toString("latin1")
      .replace(/4 0 obj[\s\S]*?endobj/, "");
    const behind = (object: Buffer, number: number) =>
      Buffer.concat([Buffer.from(`\n${number} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    const file = Buffer.concat([Buffer.from(whole, "latin1"), behind(packed, 9)]);
    expect(textOf(file)).toBe("one");
    const revised = stream(Buffer.from("BT /F1 9 Tf (two) Tj ET"));
    expect(textOf(Buffer.concat([file, behind(revised, 5)]))).toBe("two");
  });

  test("has the letters that a font gives its codes by names", () => {
    const named = pdf("abcdefg")
      .toString("latin1")
      .replace(
        "/BaseFont /Helvetica",
        "/Encoding << /Differences [97 /fi /Ccaron /uni20AC /f_f /A.alt /alpha /endash] >>",
      );
    expect(textOf(Buffer.from(named, "latin1"))).toBe("fiČ€ffAα–");
  });

  test("says what it knows about the document", () => {
    const info =
      "9 0 obj << /Title <FEFF00DC0062> /Author (A.\\040B) /CreationDate (D:20240131120000Z) >> endobj";
    const file = Buffer.concat([
      pdfOf([stream(Buffer.from("BT /F1 9 Tf (x) Tj ET"))], "/Info 9 0 R"),
      Buffer.from(info),
    ]);
    expect(readPdf(file)).toMatchObject({ title: "Üb", author: "A. B", published: "2024-01-31" });
  });

  test.each([
    ["nothing", Buffer.from("%PDF-1.7\n"), "damaged"],
    ["a page without text", drawn("0 0 m 1 1 l S"), "its pages are probably pictures"],
    ["a password", pdfOf([stream(Buffer.from("BT (x) Tj ET"))], "/Encrypt 9 0 R"), "password"],
  ])("is none where there is %s, in words", (_, file, said) => {
    expect(readPdf(file)).toMatchObject({ content: "", obstacle: expect.stringContaining(said) });
  });

  test("ends when its time is over, with what there was until then", () => {
    let now = 0;
    const long = pdf(...Array.from({ length: 300 }, (_, at) => `Page number ${at}\n`.repeat(20)));
    const { content, notes } = readPdf(long, () => (now += 1_000));
    expect(content).toContain("Page number 0");
    expect(content).not.toContain("Page number 299");
    expect(notes.join()).toMatch(/only its first \d+ pages were read/);
  });
});
