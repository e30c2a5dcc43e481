/** Tells from the parts of an archive which kind of document it is, and reads it. */
import { type Archive, openArchive } from "./archive.ts";
import { readBook } from "./book.ts";
import { pathFrom, readPart, relationsOf, targetOf } from "./markup.ts";
import { readOpenDocument } from "./open-document.ts";
import { type Passages, Unreadable } from "./passages.ts";
import { readSlides } from "./slides.ts";
import { readWord } from "./word.ts";
import { readWorkbook } from "./workbook.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument.";
/** By the type of its main part, which is another one with macros, which nothing runs here, and for a template. */
const OF_OFFICE = [
  { main: /word/, mime: `${OFFICE}wordprocessingml.document`, read: readWord },
  { main: /spreadsheetml|excel/, mime: `${OFFICE}spreadsheetml.sheet`, read: readWorkbook },
  { main: /presentationml|powerpoint/, mime: `${OFFICE}presentationml.presentation`, read: readSlides },
];
const BINARY = /excel\.sheet\.binary/;
const EPUB = "application/epub+zip";
const OPEN_DOCUMENT =
  /^application\/vnd\.oasis\.opendocument\.(?:text|spreadsheet|presentation)(?:-template)?$/;

/** `found` is told the type of the document before it is read. */
export async function readArchive(
  data: Buffer,
  passages: Passages,
  found: (mime: string) => void,
): Promise<void> {
  const archive = openArchive(data);
  const said = await mimeIn(archive);
  if (said === EPUB || OPEN_DOCUMENT.test(said)) {
    found(said);
    return await (said === EPUB ? readBook : readOpenDocument)(archive, passages);
  }
  const part = targetOf(await relationsOf(archive, ""), "officeDocument");
  if (part === undefined) throw new Unreadable("archive");
  const main = await typeOf(archive, part);
  if (BINARY.test(main)) throw new Unreadable("binary");
  const kind = OF_OFFICE.find((one) => one.main.test(main));
  if (kind === undefined || !archive.has(part)) throw new Unreadable("broken");
  found(kind.mime);
  await kind.read(archive, part, await relationsOf(archive, part), passages);
}

const MAX_MIME_LENGTH = 100;

async function mimeIn(archive: Archive): Promise<string> {
  let mime = "";
  await archive.read("mimetype", (piece) => {
    if (mime.length < MAX_MIME_LENGTH) mime += piece.slice(0, MAX_MIME_LENGTH);
  });
  return mime.trim();
}

async function typeOf(archive: Archive, part: string): Promise<string> {
  let type: string | undefined;
  await readPart(archive, "[Content_Types].xml", {
    open(name, attribute) {
      if (name === "Override" && pathFrom("", attribute("PartName") ?? "") === part)
        type ??= attribute("ContentType");
    },
  });
  return type ?? "";
}
