/** Documents that are small to send and large, deep or endless to open end in one sentence, and the next one is read. */
import { constants, deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  createDocumentReader,
  documentKind,
  type ReaderLimits,
  textOfDocument,
} from "../../../kernel/files/document-reader.ts";
import { docx, ods, office, openDocument, packed, xlsx } from "../../support/documents.ts";
import { afterThisTest } from "../../support/undo.ts";

const LIMITS: ReaderLimits = { millis: 600_000, memoryBytes: 2 ** 30 };

function reader(limits = LIMITS) {
  const made = createDocumentReader(limits);
  afterThisTest(() => made.close());
  return async (name: string, data: Buffer) => {
    const kind = documentKind(name, data);
    if (kind === undefined) throw new Error(`${name} is no document`);
    const found = await made.read("eve", kind, data);
    return "problem" in found ? found.problem : found;
  };
}

const words = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

/** The document with a part of so many bytes, which takes next to none. */
function bomb(document: Buffer, part: string, bytes: number, filling = " "): Buffer {
  const block = 16 * 2 ** 20;
  // Each block can stand after any other.
  const one = deflateRawSync(Buffer.alloc(block, filling), { finishFlush: constants.Z_FULL_FLUSH });
  const data = Buffer.concat([...Array(Math.ceil(bytes / block)).fill(one), Buffer.from([3, 0])]);
  const name = Buffer.from(part);
  const [local, listed] = [Buffer.alloc(30), Buffer.alloc(46)];
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 8);
  local.writeUInt16LE(name.length, 26);
  const end = Buffer.from(document.subarray(document.length - 22));
  const first = end.readUInt32LE(16);
  listed.writeUInt32LE(0x02014b50, 0);
  listed.writeUInt16LE(8, 10);
  listed.writeUInt32LE(data.length, 20);
  // It says that it unpacks to ten bytes.
  listed.writeUInt32LE(10, 24);
  listed.writeUInt16LE(name.length, 28);
  listed.writeUInt32LE(first, 42);
  const before = [document.subarray(0, first), local, name, data];
  end.writeUInt32LE(Buffer.concat(before).length, 16);
  return Buffer.concat([...before, document.subarray(first, -22), listed, name, end]);
}

test("a document that unpacks to far more than it has, or says nothing for long, is refused", async () => {
  const packed = bomb(docx(words("a")), "word/document.xml", 300 * 2 ** 20);
  expect(packed.length).toBeLessThan(2 * 2 ** 20);
  expect(await reader()("a.docx", packed)).toBe("cannot be read: it is too large when it is unpacked");
  expect(await reader({ ...LIMITS, millis: 1 })("a.docx", packed)).toBe(
    "cannot be read: it took longer than 0.001 seconds",
  );
  // A block has whole strings.
  const string = `<x:si><x:t>${"a".repeat(1003)}</x:t></x:si>`;
  const strings = bomb(xlsx({ sheets: { a: "" } }), "xl/sharedStrings.xml", 240 * 2 ** 20, string);
  expect(await reader({ ...LIMITS, memoryBytes: 150 * 2 ** 20 })("a.xlsx", strings)).toBe(
    "cannot be read: it needs too much memory",
  );
});

test("of a million cells, a page of repeated rows and a long text, the beginning is read and the rest is said", async () => {
  const cells = Array.from({ length: 20 }, () => "<x:c><x:v>123456</x:v></x:c>").join("");
  const row = `<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row>`;
  for (const [name, data] of [
    ["a.xlsx", xlsx({ sheets: { Numbers: `<x:row>${cells}</x:row>`.repeat(50_000) } })],
    ["a.ods", ods(`<table:table table:name="t">${row}</table:table>`)],
    ["a.docx", docx(...Array(1000).fill(words("word ".repeat(1000))))],
    ["a.docx", docx(words("word ".repeat(1_000_000)))],
    ["a.html", Buffer.from(`<p>${"word ".repeat(1_000_000)}`)],
  ] as const) {
    const found = await reader()(name, data);
    expect(found).toMatchObject({ isCut: true });
    if (typeof found === "string") continue;
    const text = textOfDocument(found);
    expect(text).toMatch(/\[The document has more text, which was left out here\.\]$/);
    expect(text.length).toBeLessThan(5 * 2 ** 20);
  }
});

test("thousands of sheets are read one after the other", async () => {
  const names = Array.from({ length: 3000 }, (_, at) => `s${at}`);
  const sheets = Object.fromEntries(
    names.map((name) => [name, `<x:row><x:c><x:v>${name}</x:v></x:c></x:row>`]),
  );
  const found = await reader()("a.xlsx", xlsx({ sheets }));
  expect(typeof found === "string" ? found : found.passages.length).toBe(3000);
});

test("entities are not looked up, nothing is fetched, and no macro runs", async () => {
  const entities = Array.from(
    { length: 9 },
    (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`,
  ).join("");
  const declared = `<!DOCTYPE x [<!ENTITY e0 "lol"><!ENTITY file SYSTEM "file:///etc/passwd">${entities}]>`;
  const type = "application/vnd.ms-word.document.macroEnabled.main+xml";
  const body = `<w:document>${words("&e9;&file;&lt;b&gt;")}</w:document>`;
  const parts = { "word/document.xml": declared + body, "word/vbaProject.bin": "Sub AutoOpen()" };
  expect(await reader()("a.docm", office("word/document.xml", type, parts))).toMatchObject({
    passages: [{ text: "&e9;&file;<b>" }],
  });
});

test("nested, damaged, locked and other archives are each refused in one sentence", async () => {
  const read = reader();
  const whole = docx(words("Hello"));
  const locked = Buffer.from(whole);
  const listed = (from: number) => locked.indexOf("PK\x01\x02", from, "latin1");
  for (let at = listed(0); at !== -1; at = listed(at + 1)) locked.writeUInt16LE(1, at + 8);
  const drm = packed({
    mimetype: "application/epub+zip",
    "META-INF/encryption.xml":
      '<a><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></a>',
  });
  const stored = packed({ "a.bin": Buffer.alloc(1000) });
  const cases: readonly (readonly [string, Buffer, string])[] = [
    ["deep.docx", docx("<w:tbl>".repeat(200_000)), "cannot be read: it is nested too deeply"],
    ["deep.html", Buffer.from("<div>".repeat(200_000)), "cannot be read: it is nested too deeply"],
    ["half.docx", whole.subarray(0, whole.length / 2), "cannot be read: it is damaged"],
    [
      "zeros.docx",
      Buffer.concat([whole.subarray(0, 60), Buffer.alloc(5000)]),
      "cannot be read: it is damaged",
    ],
    ["locked.docx", locked, "is protected by a password. Remove it, and attach the file again"],
    [
      "locked.odt",
      openDocument("text", "", "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"),
      "is protected by a password. Remove it, and attach the file again",
    ],
    ["other.docx", stored, "is a ZIP archive. Unpack it, and attach the files in it"],
    ["empty.docx", docx(), "has no text"],
    [
      "a.xlsb",
      office("xl/workbook.bin", "application/vnd.ms-excel.sheet.binary.macroEnabled.main", {}),
      "is a binary workbook. Save it as .xlsx, and attach that",
    ],
    ["locked.epub", drm, "is protected by a password. Remove it, and attach the file again"],
  ];
  for (const [name, data, problem] of cases) {
    expect({ name, found: await read(name, data) }).toEqual({ name, found: problem });
  }
  expect(await read("whole.docx", whole)).toMatchObject({ passages: [{ text: "Hello" }] });
});
