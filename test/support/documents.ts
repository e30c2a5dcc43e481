/** Small documents of Office, LibreOffice and others: the parts that their programs write, packed. */
import { strToU8, type Zippable, zipSync } from "fflate";

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const NAMES = [
  ...["w", "x", "p", "a", "r", "mc", "office", "text", "table", "draw", "presentation"].map(
    (prefix) => `xmlns:${prefix}="urn:${prefix}"`,
  ),
].join(" ");
const xml = (root: string, inside: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><${root} ${NAMES}>${inside}</${root}>`;

export const packed = (
  parts: Readonly<Record<string, string | Uint8Array>>,
  stored: readonly string[] = [],
) =>
  Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(parts).map(([name, part]) => [
          name,
          [typeof part === "string" ? strToU8(part) : part, { level: stored.includes(name) ? 0 : 9 }],
        ]),
      ) as Zippable,
    ),
  );

const relations = (...given: readonly (readonly [id: string, type: string, target: string])[]) =>
  xml(
    "Relationships",
    given
      .map(([id, type, to]) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${to}"/>`)
      .join(""),
  );

/** An Office document whose main part is this. */
export const office = (
  part: string,
  type: string,
  parts: Readonly<Record<string, string | Uint8Array>>,
): Buffer =>
  packed({
    "[Content_Types].xml": xml("Types", `<Override PartName="/${part}" ContentType="${type}"/>`),
    "_rels/.rels": relations(["rId1", "officeDocument", part]),
    ...parts,
  });

const WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
const EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml";
const POWERPOINT = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml";

/** Its styles are those of a German Word, where ids are German and names are not. */
export const docx = (...body: readonly string[]): Buffer =>
  office("word/document.xml", WORD, {
    "word/document.xml": xml("w:document", `<w:body>${body.join("")}</w:body>`),
    "word/_rels/document.xml.rels": relations(["rId1", "styles", "styles.xml"]),
    "word/styles.xml": xml(
      "w:styles",
      '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Liste"><w:name w:val="List"/><w:pPr><w:numPr/></w:pPr></w:style>',
    ),
  });

export interface Book {
  readonly sheets: Readonly<Record<string, string>>;
  readonly formats?: readonly string[];
  readonly strings?: string;
}

export function xlsx({ sheets, formats = [], strings = "" }: Book): Buffer {
  const names = Object.keys(sheets);
  return office("xl/workbook.xml", EXCEL, {
    "xl/workbook.xml": xml(
      "x:workbook",
      names.map((name, at) => `<x:sheet name="${name}" sheetId="${at + 1}" r:id="s${at}"/>`).join(""),
    ),
    "xl/_rels/workbook.xml.rels": relations(
      ["a", "styles", "styles.xml"],
      ["b", "sharedStrings", "/xl/sharedStrings.xml"],
      ...names.map((_, at) => [`s${at}`, "worksheet", `worksheets/${at}.xml`] as const),
    ),
    "xl/styles.xml": xml(
      "x:styleSheet",
      `${formats.map((code, at) => `<x:numFmt numFmtId="${200 + at}" formatCode="${code.replaceAll('"', "&quot;")}"/>`).join("")}<x:cellStyleXfs><x:xf numFmtId="14"/></x:cellStyleXfs><x:cellXfs>${formats.map((_, at) => `<x:xf numFmtId="${200 + at}"/>`).join("")}</x:cellXfs>`,
    ),
    "xl/sharedStrings.xml": xml("x:sst", strings),
    ...Object.fromEntries(
      names.map((name, at) => [
        `xl/worksheets/${at}.xml`,
        xml("x:worksheet", `<x:sheetData>${sheets[name]}</x:sheetData>`),
      ]),
    ),
  });
}

export const pptx = (...slides: readonly string[]): Buffer =>
  office("ppt/presentation.xml", POWERPOINT, {
    "ppt/presentation.xml": xml(
      "p:presentation",
      slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="s${at}"/>`).join(""),
    ),
    "ppt/_rels/presentation.xml.rels": relations(
      ...slides.map((_, at) => [`s${at}`, "slide", `slides/${at}.xml`] as const),
    ),
    ...Object.fromEntries(slides.map((slide, at) => [`ppt/slides/${at}.xml`, xml("p:sld", slide)])),
  });

export const openDocument = (kind: string, body: string, manifest = ""): Buffer =>
  packed(
    {
      mimetype: `application/vnd.oasis.opendocument.${kind}`,
      "META-INF/manifest.xml": xml("manifest", manifest),
      "content.xml": xml("office:document-content", `<office:body>${body}</office:body>`),
    },
    ["mimetype"],
  );

export const odt = (body: string) => openDocument("text", `<office:text>${body}</office:text>`);
export const ods = (body: string) =>
  openDocument("spreadsheet", `<office:spreadsheet>${body}</office:spreadsheet>`);
export const odp = (body: string) =>
  openDocument("presentation", `<office:presentation>${body}</office:presentation>`);

export function epub(...chapters: readonly (readonly [file: string, body: string])[]): Buffer {
  const items = chapters.map(([file], at) => `<item id="c${at}" href="${file}"/>`);
  // The manifest may have any order.
  const manifest = `<manifest>${items.toReversed().join("")}</manifest>`;
  const spine = `<spine>${chapters.map((_, at) => `<itemref idref="c${at}"/>`).join("")}</spine>`;
  return packed(
    {
      mimetype: "application/epub+zip",
      "META-INF/container.xml": xml("container", '<rootfile full-path="OEBPS/book.opf"/>'),
      "OEBPS/book.opf": xml("package", manifest + spine),
      ...Object.fromEntries(
        chapters.map(([file, body]) => [
          `OEBPS/${decodeURIComponent(file)}`,
          `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`,
        ]),
      ),
    },
    ["mimetype"],
  );
}

export const mail = (type: string, body: string): Buffer =>
  Buffer.from(
    [
      ...["From: Ben <ben@example.org>", "To: ann@example.org", "Date: Sun, 01 Mar 2026 10:00:00 +0000"],
      ...["Subject: =?utf-8?Q?Schl=C3=BCssel?=", "MIME-Version: 1.0"],
      ...['Content-Type: multipart/mixed; boundary="b"', "", "--b", `Content-Type: ${type}`, "", body],
      ...["--b", 'Content-Type: application/octet-stream; name="keys.bin"'],
      ...["Content-Disposition: attachment; filename=keys.bin", "Content-Transfer-Encoding: base64"],
      ...["", "AAECAw==", "--b--", ""],
    ].join("\r\n"),
    "latin1",
  );
