/** What documents say, as attachments, files and previews get it. Those in the fixtures were made by other people's libraries. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDocumentReader, documentKind, textOfDocument } from "../../../kernel/files/document-reader.ts";
import { ROOT } from "../../support/clone.ts";
import { docx, epub, mail, odp, ods, odt, pptx, xlsx } from "../../support/documents.ts";
import { afterThisTest } from "../../support/undo.ts";

function reader() {
  const made = createDocumentReader();
  afterThisTest(() => made.close());
  return async (name: string, data: Buffer) => {
    const kind = documentKind(name, data);
    if (kind === undefined) throw new Error(`${name} is no document`);
    return await made.read("ann", kind, data);
  };
}

const fixture = (name: string) => readFileSync(join(ROOT, "test", "fixtures", "documents", name));

describe("a document that another library wrote", () => {
  test.each([
    [
      "lease.docx",
      "# Lease of a Workshop\n\n# Rent\n\nThe rent is 1,250 euros a month. [Footnote 1]\n\n## Deposit\n\n- Three rents\n- Paid before 1 May\n\nRoom | m²\nHall | 120\n\n[Footnote 1] As of 1 March 2026.",
    ],
    [
      "prices.xlsx",
      "['Price list'!A1:D4]\n1 | Item | Price | Since | Share\n2 | Bolt | 0.3 | 2026-03-01 | 25%\n3 | Nut | 4\n4 | | 4.3\n\n[Zeiten!A1:B1]\n1 | Öffnung | TRUE",
    ],
    [
      "prices.ods",
      "['Price list'!A1:D4]\n1 | Item | Price | Since | Share\n2 | Bolt | 0.30000000000000004 | 3/1/26 | 0.25\n3 | Nut | 4\n4 | | 4.3\n\n[Zeiten!A1:B1]\n1 | Öffnung | TRUE",
    ],
    [
      "plan.pptx",
      "[Slide 1]\nPlan for May\n\nPaint the hall\n\nOrder bolts\n\nNotes: Ask Ann first.\n\n[Slide 2]\nWho | What\nBen | Paint",
    ],
  ])("%s is read with its headings, cells and slides", async (name, text) => {
    const found = await reader()(name, fixture(name));
    expect("passages" in found ? textOfDocument(found) : found).toBe(text);
  });
});

test("passages say the heading, slide or cells that they stand at", async () => {
  const read = reader();
  expect(await read("lease.docx", fixture("lease.docx"))).toMatchObject({
    mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    isCut: false,
    passages: [
      { heading: "Lease of a Workshop" },
      { heading: "Rent", text: expect.stringContaining("1,250 euros") },
      { heading: "Deposit" },
      { heading: "footnotes" },
    ],
  });
  expect(await read("prices.xlsx", fixture("prices.xlsx"))).toMatchObject({
    passages: [{ cells: "'Price list'!A1:D4" }, { cells: "Zeiten!A1:B1" }],
  });
  expect(await read("plan.pptx", fixture("plan.pptx"))).toMatchObject({
    passages: [{ page: 1 }, { page: 2 }],
  });
});

test("Word: what was deleted, moved away or hidden is left out, and what was inserted is read", async () => {
  const run = (text: string, about = "") =>
    `<w:r><w:rPr>${about}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const found = await reader()(
    "a.docx",
    docx(
      `<w:p><w:pPr><w:pStyle w:val="berschrift1"/><w:pPrChange><w:pPr><w:pStyle w:val="Liste"/></w:pPr></w:pPrChange></w:pPr>${run("Fristen &amp; Termine")}</w:p>`,
      `<w:p>${run("Wir zahlen ")}<w:del><w:r><w:delText>10</w:delText></w:r></w:del><w:ins>${run("20")}</w:ins>${run(" Euro")}<w:moveFrom>${run("moved")}</w:moveFrom>${run("unseen", "<w:vanish/>")}${run(".", '<w:vanish w:val="0"/>')}</w:p>`,
      `<w:p><w:pPr><w:pStyle w:val="Liste"/></w:pPr>${run("Mai")}<w:r><w:tab/></w:r>${run("Juni")}</w:p>`,
      "<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>",
    ),
  );
  expect(found).toMatchObject({
    passages: [
      {
        heading: "Fristen & Termine",
        text: "# Fristen & Termine\n\nWir zahlen 20 Euro.\n\n- Mai\tJuni\n\nbox",
      },
    ],
  });
});

test("Excel: dates, times, shares, formulas and errors are written as the cells show them", async () => {
  const cell = (ref: string, value: string, more = "") => `<x:c r="${ref}" ${more}><x:v>${value}</x:v></x:c>`;
  const found = await reader()(
    "a.xlsx",
    xlsx({
      formats: [
        "General",
        "yyyy\\-mm\\-dd hh:mm",
        "[h]:mm:ss",
        "0.0%",
        '"Monat" 0',
        "[$-407]d. mmmm yyyy",
        "hh:mm",
      ],
      sheets: {
        "Ann's": `<x:row r="7">${cell("C7", "45352.5", 's="1"')}${cell("D7", "1.5", 's="2"')}${cell("E7", "0.125", 's="3"')}${cell("F7", "3", 's="4"')}${cell("G7", "45352", 's="5"')}${cell("H7", "0.75", 's="6"')}</x:row>
          <x:row><x:c r="A8" t="inlineStr"><x:is><x:r><x:t>two </x:t></x:r><x:r><x:t>runs</x:t></x:r></x:is></x:c>${cell("B8", "#DIV/0!", 't="e"')}<x:c><x:f>A1+1</x:f></x:c>${cell("XFD8", "far")}</x:row>`,
      },
    }),
  );
  expect(found).toMatchObject({
    passages: [
      {
        cells: "'Ann''s'!A7:XFD8",
        text: "7 | | | 2024-03-01 12:00:00 | 36:00:00 | 12.5% | 3 | 2024-03-01 | 18:00:00\n8 | two runs | #DIV/0! | =A1+1 | … XFD: far",
      },
    ],
  });
});

test("PowerPoint: a slide's title is its heading; its number, date and footer are left out", async () => {
  const shape = (type: string, text: string) =>
    `<p:sp><p:nvSpPr><p:nvPr>${type && `<p:ph type="${type}"/>`}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const found = await reader()(
    "a.pptx",
    pptx(shape("", "first drawn") + shape("ctrTitle", "Plan") + shape("sldNum", "1"), shape("body", "next")),
  );
  expect(found).toMatchObject({
    passages: [
      { page: 1, text: "first drawn" },
      { page: 1, heading: "Plan", text: "## Plan" },
      { page: 2, text: "next" },
    ],
  });
});

test("LibreOffice: text, cells and slides, with what is repeated, without remarks and deleted text", async () => {
  const read = reader();
  const text = odt(
    '<text:tracked-changes><text:changed-region><text:p>deleted</text:p></text:changed-region></text:tracked-changes><text:h text:outline-level="2">Übersicht</text:h><text:p>A<text:s text:c="3"/>b<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>aside</text:p></text:note-body></text:note> c<office:annotation><text:p>remark</text:p></office:annotation></text:p><text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>',
  );
  expect(await read("a.odt", text)).toMatchObject({
    mime: "application/vnd.oasis.opendocument.text",
    passages: [{ heading: "Übersicht", text: "## Übersicht\n\nA   b [1: aside] c\n\n- one" }],
  });
  const cell = (value: string, more = "") =>
    `<table:table-cell ${more}><text:p>${value}</text:p></table:table-cell>`;
  const sheet = `<table:table table:name="Kosten"><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="1024"/></table:table-row><table:table-row>${cell("")}${cell("x", 'table:number-columns-repeated="2"')}${cell("5,00 €")}</table:table-row></table:table>`;
  expect(await read("a.ods", ods(sheet))).toMatchObject({
    passages: [{ cells: "Kosten!B4:D4", text: "4 | | x | x | 5,00 €" }],
  });
  const page = (title: string) =>
    `<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>${title}</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>slowly</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>`;
  expect(await read("a.odp", odp(page("Eins") + page("Zwei")))).toMatchObject({
    passages: [
      { page: 1, heading: "Eins", text: "## Eins\n\nNotes: slowly" },
      { page: 2, heading: "Zwei" },
    ],
  });
});

test("an EPUB's chapters come in the order of its spine, as a browser would show them", async () => {
  const book = epub(
    ["b%20two.xhtml", "<title/><script>x()</script><h1>Two</h1><p>Second&nbsp;<i>chapter</i></p>"],
    ["one.xhtml", "<h2>One</h2><ul><li>item</li></ul><table><tr><th>k</th><td>v</td></tr></table>"],
  );
  expect(await reader()("a.epub", book)).toMatchObject({
    mime: "application/epub+zip",
    passages: [
      { heading: "Two", text: "# Two\n\nSecond chapter" },
      { heading: "One", text: "## One\n\n- item\n\nk | v" },
    ],
  });
});

test("HTML is read without what a browser hides, in the charset that it names", async () => {
  const page =
    '<html><head><meta charset="windows-1252"><title>t</title></head><body><h1>Caf\xe9</h1><p>one<br>two<p style="display: none">hidden</p><div hidden>too</div><pre>a\n  b</pre></body></html>';
  expect(await reader()("a.html", Buffer.from(page, "latin1"))).toMatchObject({
    passages: [{ heading: "Café", text: "# Café\n\none\ntwo\n\na\n  b" }],
  });
});

test("a mail is read with who wrote it, in plain text or HTML, and names what came with it", async () => {
  const read = reader();
  const plain = await read("a.eml", mail("text/plain; charset=iso-8859-1", "Gr\xfc\xdfe"));
  expect("passages" in plain && textOfDocument(plain)).toBe(
    'From: "Ben" <ben@example.org>\nTo: ann@example.org\nDate: 2026-03-01T10:00:00.000Z\nSubject: Schlüssel\n\nGrüße\n\nAttached: keys.bin (4 bytes)',
  );
  const html = await read("a.eml", mail("text/html", "<p>Hi <b>Ann</b></p><script>x</script>"));
  expect("passages" in html && textOfDocument(html)).toContain("Subject: Schlüssel\n\nHi Ann\n\nAttached");
  const western = await read(
    "a.eml",
    mail("text/html; charset=windows-1252", '<meta charset="windows-1252"><p>Gr\xfc\xdfe</p>'),
  );
  expect("passages" in western && textOfDocument(western)).toContain("\n\nGrüße\n\n");
});
