/** What a document says, read in a process of its own: without files, network or environment, bounded in time and memory. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../fault.ts";
import { createMutex } from "../mutex.ts";
import { moduleFile, ROOT } from "../package.ts";
import { mimeOfName, sniff } from "../text/file-type.ts";
import { tryJson } from "../text/json.ts";
import type { DocumentKind, DocumentReply, ReadDocument } from "./document-child.ts";
import type { Trouble } from "./documents/passages.ts";
import type { PdfDocument } from "./documents/pdf.ts";

export type { DocumentKind, PdfDocument, ReadDocument };

/** The rest of a sentence about the document, and what the person who has it can do. */
interface Problem {
  readonly problem: string;
  readonly advice?: string;
}

type Unread = Pick<Problem, "problem">;
type Found = Exclude<DocumentReply, { readonly status: Trouble }>;

export type DocumentReader = ReturnType<typeof createDocumentReader>;

export interface ReaderLimits {
  readonly millis: number;
  readonly memoryBytes: number;
}

const LIMITS: ReaderLimits = { millis: 30_000, memoryBytes: 600 * 2 ** 20 };
// Far more than any model reads. A tool gets pages until there is so much text, and not the rest of the document.
const MAX_TEXT_LENGTH = 4 * 2 ** 20;
const MAX_PAGES_LENGTH = 2 ** 20;
const MAX_WAITING = 64;
const MAX_WAITING_PER_USER = 16;
const ATTACH_AGAIN = "Remove it, and attach the file again";
const PROBLEMS: Readonly<Record<Trouble | "long" | "stopped", Problem>> = {
  archive: { problem: "is a ZIP archive", advice: "Unpack it, and attach the files in it" },
  binary: { problem: "is a binary workbook", advice: "Save it as .xlsx, and attach that" },
  broken: { problem: "cannot be read: it is damaged" },
  empty: { problem: "has no text" },
  large: { problem: "cannot be read: it is too large when it is unpacked" },
  long: { problem: "cannot be read: it has too much text" },
  memory: { problem: "cannot be read: it needs too much memory" },
  nested: { problem: "cannot be read: it is nested too deeply" },
  password: { problem: "is protected by a password", advice: ATTACH_AGAIN },
  pictures: { problem: "has no text: its pages are probably pictures", advice: "Attach them as images" },
  stopped: { problem: "could not be read: Postern is stopping" },
};

const ARCHIVE = [0x50, 0x4b, 0x03, 0x04];

/** Undefined for what is no document that is taken apart. HTML and mails are told by their names: both are text. */
export function documentKind(name: string, data: Uint8Array): DocumentKind | undefined {
  if (sniff(data) === "application/pdf") return "pdf";
  if (ARCHIVE.every((byte, at) => data[at] === byte)) return "archive";
  const said = mimeOfName(name);
  return said === "message/rfc822" ? "mail" : said === "text/html" ? "html" : undefined;
}

/** The text of a whole document, with a line for each page, slide or block of cells. */
export function textOfDocument({ mime, passages, isCut }: ReadDocument): string {
  const what = mime === "application/pdf" ? "Page" : "Slide";
  let at: string | undefined;
  const texts = passages.map(({ text, page, cells }) => {
    const place = cells ?? (page === undefined ? undefined : `${what} ${page}`);
    const isSame = place === at;
    at = place;
    return place === undefined || isSame ? text : `[${place}]\n${text}`;
  });
  if (isCut) texts.push("[The document has more text, which was left out here.]");
  return texts.join("\n\n");
}

/** One at a time, as each may take a core for as long as it is allowed. People take turns. */
export function createDocumentReader(limits: ReaderLimits = LIMITS) {
  const stop = new AbortController();
  const inOrder = createMutex();
  /** Whose documents have yet to begin. */
  const waiting: string[] = [];

  function inTurn(user: string, read: () => Promise<Found | Problem>): Promise<Found | Problem> {
    if (waiting.length >= MAX_WAITING || waiting.filter((one) => one === user).length >= MAX_WAITING_PER_USER)
      throw new Fault(
        "limited",
        "documents_busy",
        "Too many documents are being read. Try again in a moment.",
        {
          retryAfterSecs: 5,
        },
      );
    waiting.push(user);
    const begin = () => {
      waiting.splice(waiting.indexOf(user), 1);
      return read();
    };
    // Only the first of each user is among those that are next.
    return inOrder(`of ${user}`, () => inOrder("all", begin));
  }

  return {
    /** The problem also says what the person who has the document can do. */
    async read(user: string, kind: DocumentKind, data: Uint8Array): Promise<ReadDocument | Unread> {
      const found = await inTurn(user, () => readOne(data, kind, limits, stop.signal));
      if ("passages" in found) {
        const { status: _, ...document } = found;
        return document;
      }
      const { problem, advice } = "problem" in found ? found : PROBLEMS.broken;
      return { problem: advice === undefined ? problem : `${problem}. ${advice}` };
    },
    /** Reads a PDF that a tool asked for, until its call ends. */
    async readPages(user: string, data: Uint8Array, signal: AbortSignal): Promise<PdfDocument | Unread> {
      const either = AbortSignal.any([stop.signal, signal]);
      const found = await inTurn(user, () => readOne(data, "pages", limits, either));
      if (!("pages" in found))
        return { problem: "problem" in found ? found.problem : PROBLEMS.broken.problem };
      const { status: _, ...document } = found;
      return document;
    },
    async close(): Promise<void> {
      stop.abort();
      // All that wait return at once.
      await inOrder("all", async () => {});
    },
  };
}

async function readOne(
  data: Uint8Array,
  kind: DocumentKind | "pages",
  limits: ReaderLimits,
  signal: AbortSignal,
): Promise<Found | Problem> {
  if (signal.aborted) return PROBLEMS.stopped;
  const library = fileURLToPath(import.meta.resolve("unpdf/pdfjs"));
  const file = moduleFile("kernel/files/document-child");
  const maxLength = kind === "pages" ? MAX_PAGES_LENGTH : MAX_TEXT_LENGTH;
  // In a clone it loads packages from their folder; in the published package they are part of it.
  const packages = file.endsWith(".ts") ? join(ROOT, "node_modules") : dirname(library);
  const readable = [dirname(file), packages, join(ROOT, "package.json")].filter((path) => existsSync(path));
  const args = [
    "--permission",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    "--allow-worker",
    "--no-experimental-sqlite",
    "--no-experimental-webstorage",
    "--disable-warning=SecurityWarning",
    file,
    library,
    `${limits.memoryBytes}`,
    `${maxLength}`,
    kind,
    `${limits.millis}`,
  ];
  const child = spawn(process.execPath, args, { env: {}, stdio: ["pipe", "ignore", "ignore", "pipe"] });
  let stopped: Problem | undefined;
  const stopAs = (problem: Problem) => {
    stopped ??= problem;
    child.kill("SIGKILL");
  };
  const late = { problem: `cannot be read: it took longer than ${limits.millis / 1000} seconds` };
  const deadline = setTimeout(() => stopAs(late), limits.millis);
  const onStop = () => stopAs(PROBLEMS.stopped);
  signal.addEventListener("abort", onStop);
  const closed = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdio[3]?.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    // A single page may have more text than all pages should, and in JSON it takes several times its length.
    if (bytes > maxLength * 8) stopAs(PROBLEMS.long);
    else chunks.push(chunk);
  });
  // It may end before it has taken all.
  child.stdin?.on("error", () => {});
  child.stdin?.end(data);
  await closed;
  clearTimeout(deadline);
  signal.removeEventListener("abort", onStop);
  return stopped ?? answerOf(Buffer.concat(chunks).toString("utf8"));
}

function answerOf(said: string): Found | Problem {
  const reply = tryJson(said) as DocumentReply | undefined;
  if (reply?.status === "ok" || reply?.status === "pages") return reply;
  return PROBLEMS[reply?.status ?? "broken"] ?? PROBLEMS.broken;
}
