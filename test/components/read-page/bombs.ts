/** Pages and documents that are made to take all time or memory there is. */
import { deflateSync } from "node:zlib";
import { pdfOf, stream } from "../../support/pdf.ts";

const repeat = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / text.length));
const page = (body: string) =>
  `<!doctype html><html><head><title>Bomb</title></head><body>${body}</body></html>`;
const WORDS = "<p>Some words that a reader would want to find on this page, whatever else is on it.</p>";
const MIB = 1 << 20;

export const BOMBS: Readonly<Record<string, () => string>> = {
  "a million elements within each other": () => page(WORDS + repeat("<div>", 5 * MIB)),
  "elements that are closed and were never open": () =>
    page(WORDS + repeat("<b>", MIB) + repeat("</i>", 2 * MIB)),
  "half a million entities": () => page(`<p>${repeat("&amp;", 3 * MIB)}</p>`),
  "entities that look like others": () => page(`<p>${repeat("&NotEqualTild", 3 * MIB)}</p>`),
  "a table of a million columns": () =>
    page(
      `${WORDS}<table>${repeat('<tr><td colspan="1000000" rowspan="1000000">x</td><td>y</td></tr>', MIB)}</table>`,
    ),
  "tables within tables": () => page(WORDS + repeat("<table><tr><td>", MIB)),
  "lists within lists": () => page(WORDS + repeat("<ul><li>x", MIB)),
  "one element with all the attributes": () =>
    page(`<div ${repeat("class=a href=b x=y ", 2 * MIB)}>x</div>${WORDS}`),
  "an attribute without an end": () => page(`${WORDS}<a href="${repeat("x", 3 * MIB)}`),
  "nothing but the beginnings of tags": () => repeat("<", 3 * MIB),
  "a comment without an end": () => page(`${WORDS}<!--${repeat("-", 3 * MIB)}`),
  "a paragraph of three million blanks": () => page(`<p>${repeat(" \n\t", 3 * MIB)}x</p>${WORDS}`),
  "line breaks only": () => page(WORDS + repeat("<br>", 2 * MIB)),
  "a hundred thousand links": () => page(repeat('<p><a href="/x">word, and word</a></p>', 3 * MIB)),
};

const packed = (text: string) => stream(deflateSync(Buffer.from(text)), "/Filter /FlateDecode");
const SHOWN = "BT /F1 12 Tf 72 720 Td (Words on a page) Tj ET ";
/** Further objects behind those of a sound file, whose table is lost, so that the last object of a number counts. */
function and(sound: Buffer, ...objects: readonly (string | Buffer)[]): Buffer {
  const more = objects.flatMap((object) => [Buffer.from("\n"), Buffer.from(object)]);
  const [table, trailer] = [sound.lastIndexOf("xref\n0 "), sound.lastIndexOf("trailer")];
  return Buffer.concat([sound.subarray(0, table), ...more, Buffer.from("\n"), sound.subarray(trailer)]);
}

export const PDF_BOMBS: Readonly<Record<string, () => Buffer>> = {
  "a page that unpacks to a gigabyte": () => {
    const zeros = deflateSync(Buffer.alloc(128 * MIB, " "));
    return pdfOf(Array.from({ length: 8 }, () => stream(zeros, "/Filter /FlateDecode")));
  },
  "filters one after the other": () => {
    const once = deflateSync(Buffer.alloc(64 * MIB, " "));
    return pdfOf([
      stream(deflateSync(once), "/Filter [/FlateDecode /FlateDecode /FlateDecode /FlateDecode]"),
    ]);
  },
  "a thousand pages that are all the same long one": () => {
    const one = pdfOf([packed(SHOWN + repeat("(x) Tj ", MIB))]);
    const kids = Array.from({ length: 1000 }, (_, at) => `${100 + at} 0 R`).join(" ");
    const pages = Array.from(
      { length: 1000 },
      (_, at) =>
        `${100 + at} 0 obj << /Type /Page /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >> endobj`,
    );
    return and(one, `2 0 obj << /Type /Pages /Kids [${kids}] >> endobj`, ...pages);
  },
  "forms that draw each other ten times": () => {
    const forms = Array.from({ length: 10 }, (_, at) =>
      Buffer.concat([
        Buffer.from(`${20 + at} 0 obj `),
        stream(
          Buffer.from(`${SHOWN}${"/X Do ".repeat(10)}`),
          `/Type /XObject /Subtype /Form /Resources << /Font << /F1 3 0 R >> /XObject << /X ${21 + at} 0 R >> >>`,
        ),
        Buffer.from(" endobj"),
      ]),
    );
    const page =
      "4 0 obj << /Type /Page /Resources << /Font << /F1 3 0 R >> /XObject << /X 20 0 R >> >> /Contents 5 0 R >> endobj";
    return and(pdfOf([packed(`${SHOWN}/X Do`)]), ...forms, page);
  },
  "pages within themselves": () =>
    and(pdfOf([packed(SHOWN)]), "2 0 obj << /Type /Pages /Kids [2 0 R 4 0 R 2 0 R] >> endobj"),
  "objects that each reach to the end": () =>
    Buffer.from(`%PDF-1.4\n${Array.from({ length: 200_000 }, (_, at) => `${at + 9} 0 obj [(`).join(" ")}`),
  "a million objects": () =>
    and(pdfOf([packed(SHOWN)]), Array.from({ length: 500_000 }, (_, at) => `${at + 9} 0 obj 1`).join("\n")),
  "lists within lists": () => pdfOf([packed(SHOWN + repeat("[", 3 * MIB))]),
  "dictionaries within dictionaries": () => pdfOf([packed(SHOWN + repeat("<</A", 3 * MIB))]),
  "texts without an end": () => pdfOf([packed(SHOWN + repeat("((\\", 3 * MIB))]),
  "a font that maps everything again and again": () => {
    const map = `1 begincodespacerange <0000> <FFFF> endcodespacerange ${repeat("1 beginbfrange <0000> <FFFF> <0041> endbfrange ", MIB)}`;
    const font = Buffer.concat([Buffer.from("9 0 obj "), packed(map), Buffer.from(" endobj")]);
    return and(
      pdfOf([packed(SHOWN)]),
      "3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 9 0 R >> endobj",
      font,
    );
  },
  "three million operators": () =>
    pdfOf([packed(`${SHOWN}BT /F1 9 Tf ${repeat("1 0 Td ", 6 * MIB)}(x) Tj ET`)]),
  "nothing but numbers": () => Buffer.from(`%PDF-1.4\n${repeat("1 ", 9 * MIB)}`),
  "nothing but the beginnings of streams": () =>
    Buffer.from(`%PDF-1.4\n${repeat("1 0 obj <<>> stream\n", 9 * MIB)}`),
};
