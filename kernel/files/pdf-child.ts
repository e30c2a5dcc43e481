/** The process that reads a PDF: one thread reads it, the other watches how much memory that takes. */
import { Socket } from "node:net";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

export type PdfReply =
  | { readonly status: "ok"; readonly text: string }
  | { readonly status: "broken" | "password" | "memory" };

interface Work {
  readonly data: Uint8Array;
  /** The file of pdf.js, which is looked up outside: nothing can be looked up in here. */
  readonly library: string;
  readonly mostText: number;
}

const LOOK_MS = 20;
const TIMEOUT_MS = 120_000;
/** The pipe that the process that started it reads. */
const ANSWERS = 3;

if (isMainThread) await watch();
else await read(workerData as Work);

async function watch(): Promise<void> {
  const [library = "", memoryBytes = "", mostText = ""] = process.argv.slice(2);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const work: Work = { data: Buffer.concat(chunks), library, mostText: Number(mostText) };
  const reader = new Worker(new URL(import.meta.url), { workerData: work, stdout: true, stderr: true });
  reader.on("message", end);
  reader.on("error", (error) =>
    end({ status: (error as { code?: string }).code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "broken" }),
  );
  // Ends the process if its parent is gone.
  setTimeout(() => process.exit(1), TIMEOUT_MS);
  // Unpacked data lies outside the heap that V8 bounds.
  setInterval(() => {
    if (process.memoryUsage.rss() > Number(memoryBytes)) end({ status: "memory" });
  }, LOOK_MS);
}

function end(reply: PdfReply): void {
  new Socket({ fd: ANSWERS }).end(JSON.stringify(reply), () => process.exit(0));
}

interface Pdfjs {
  getDocument(options: object): { readonly promise: Promise<PdfDocument> };
}

interface PdfDocument {
  readonly numPages: number;
  getPage(number: number): Promise<{
    getTextContent(): Promise<{
      readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[];
    }>;
    cleanup(): void;
  }>;
}

async function read({ data, library, mostText }: Work): Promise<void> {
  const { getDocument } = (await import(library)) as Pdfjs;
  try {
    const document = await getDocument({
      data: new Uint8Array(data),
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      verbosity: 0,
    }).promise;
    const pages: string[] = [];
    let length = 0;
    for (let number = 1; number <= document.numPages && length < mostText; number++) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      const text = items.map(({ str = "", hasEOL }) => (hasEOL ? `${str}\n` : str)).join("");
      page.cleanup();
      length += text.length;
      if (text.trim() !== "") pages.push(`[Page ${number}]\n${text}`);
    }
    parentPort?.postMessage({ status: "ok", text: pages.join("\n\n").slice(0, mostText) } satisfies PdfReply);
  } catch (error) {
    const isLocked = (error as Error).name === "PasswordException";
    parentPort?.postMessage({ status: isLocked ? "password" : "broken" } satisfies PdfReply);
  }
}
