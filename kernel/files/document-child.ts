/** The process that reads a document: one thread reads it, the other watches how much memory that takes. */
import { Socket } from "node:net";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { createPassages, Enough, type Passage, type Trouble, Unreadable } from "./documents/passages.ts";
import type { PdfDocument } from "./documents/pdf.ts";

/** How the bytes are read; as `pages`, a PDF for a tool. */
export type DocumentKind = "archive" | "html" | "mail" | "pdf";
type Reading = DocumentKind | "pages";

export interface ReadDocument {
  readonly mime: string;
  /** In the order of the document; at least one. */
  readonly passages: readonly Passage[];
  /** True where the document has more text than is read. */
  readonly isCut: boolean;
}

export type DocumentReply =
  | ({ readonly status: "pages" } & PdfDocument)
  | ({ readonly status: "ok" } & ReadDocument)
  | { readonly status: Trouble };

interface Work {
  readonly data: Uint8Array;
  readonly library: string;
  readonly maxLength: number;
  readonly reading: Reading;
}

const LOOK_MS = 20;
/** The pipe that the process that started it reads. */
const ANSWERS = 3;

if (isMainThread) await watch();
// Not awaited here: in a bundle, what is loaded later may share code with this module, and would wait for it.
else void replyTo(workerData as Work).then((reply) => parentPort?.postMessage(reply));

async function watch(): Promise<void> {
  const [library = "", memoryBytes = "", maxLength = "", reading = "", millis = ""] = process.argv.slice(2);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const work: Work = {
    data: Buffer.concat(chunks),
    library,
    maxLength: Number(maxLength),
    reading: reading as Reading,
  };
  const reader = new Worker(new URL(import.meta.url), { workerData: work, stdout: true, stderr: true });
  reader.on("message", end);
  reader.on("error", (error) =>
    end({ status: (error as { code?: string }).code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "broken" }),
  );
  // Its parent ends it earlier, unless it is gone.
  setTimeout(() => process.exit(1), Number(millis) * 2);
  // Unpacked data lies outside the heap that V8 bounds.
  setInterval(() => {
    if (process.memoryUsage.rss() > Number(memoryBytes)) end({ status: "memory" });
  }, LOOK_MS);
}

function end(reply: DocumentReply): void {
  new Socket({ fd: ANSWERS }).end(JSON.stringify(reply), () => process.exit(0));
}

async function replyTo(work: Work): Promise<DocumentReply> {
  try {
    if (work.reading === "pages") {
      const { readPdf } = await import("./documents/pdf.ts");
      return { status: "pages", ...(await readPdf(work.data, work.library, "paragraphs", work.maxLength)) };
    }
    return { status: "ok", ...(await takeApart(work)) };
  } catch (error) {
    return { status: error instanceof Unreadable ? error.trouble : "broken" };
  }
}

/** Loads only what reads this kind: each reading has a process of its own. */
async function takeApart({ data: given, library, maxLength, reading }: Work): Promise<ReadDocument> {
  const data = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const passages = createPassages(maxLength);
  let [mime, isCut] = ["application/pdf", false];
  const found = (type: string) => {
    mime = type;
  };
  try {
    if (reading === "pdf") {
      const { readPdf } = await import("./documents/pdf.ts");
      const { pages, count } = await readPdf(data, library, "lines", maxLength);
      isCut = count > pages.length;
      for (const [at, page] of pages.entries()) passages.add(page, { page: at + 1 });
    } else if (reading === "archive") {
      const { readArchive } = await import("./documents/office.ts");
      await readArchive(data, passages, found);
    } else if (reading === "mail") {
      const { readMail } = await import("./documents/mail.ts");
      found("message/rfc822");
      await readMail(data, passages);
    } else {
      const { readHtml } = await import("./documents/html.ts");
      found("text/html");
      readHtml(data, passages);
    }
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
    isCut = true;
  }
  if (passages.all.length === 0) throw new Unreadable("empty");
  return { mime, passages: passages.all, isCut };
}
