/** A PDF's text, read in a process of its own: without files, network or environment, bounded in time and memory. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../fault.ts";
import { createMutex } from "../mutex.ts";
import { moduleFile, ROOT } from "../package.ts";
import { tryJson } from "../text/json.ts";
import type { PdfDocument, PdfForm, PdfReply } from "./document-child.ts";

export type { PdfDocument };

/** The problem is the rest of a sentence about the document. */
export type DocumentText = { readonly text: string } | { readonly problem: string };

type PdfResult = PdfDocument | { readonly problem: string; readonly advice?: string };

export type DocumentReader = ReturnType<typeof createDocumentReader>;

export interface ReaderLimits {
  readonly millis: number;
  readonly memoryBytes: number;
}

const LIMITS: ReaderLimits = { millis: 30_000, memoryBytes: 600 * 2 ** 20 };
// Far more than any model reads. A tool gets pages until there is so much text, and not the rest of the document.
const MAX_TEXT_LENGTH: Readonly<Record<PdfForm, number>> = { lines: 4 * 2 ** 20, paragraphs: 2 ** 20 };
const MAX_WAITING = 64;
const MAX_WAITING_PER_USER = 16;
const PROBLEMS = {
  broken: { problem: "cannot be read: it is damaged, or no PDF" },
  large: { problem: "cannot be read: it has too much text" },
  memory: { problem: "cannot be read: it needs too much memory" },
  password: { problem: "is protected by a password", advice: "Remove it, and attach the file again" },
  empty: { problem: "has no text: its pages are probably pictures", advice: "Attach them as images" },
  stopped: { problem: "could not be read: Postern is stopping" },
};

/** One at a time, as each may take a core for as long as it is allowed. People take turns. */
export function createDocumentReader(limits: ReaderLimits = LIMITS) {
  const stop = new AbortController();
  const inOrder = createMutex();
  /** Whose PDFs have yet to begin. */
  const waiting: string[] = [];

  function inTurn(user: string, read: () => Promise<PdfResult>): Promise<PdfResult> {
    if (waiting.length >= MAX_WAITING || waiting.filter((one) => one === user).length >= MAX_WAITING_PER_USER)
      throw new Fault("limited", "pdf_busy", "Too many PDFs are being read. Try again in a moment.", {
        retryAfterSecs: 5,
      });
    waiting.push(user);
    const begin = () => {
      waiting.splice(waiting.indexOf(user), 1);
      return read();
    };
    // Only the first of each user is among those that are next.
    return inOrder(`of ${user}`, () => inOrder("all", begin));
  }

  return {
    /** Reads an attachment: the problem also says what the person who attached it can do. */
    async read(user: string, data: Uint8Array): Promise<DocumentText> {
      const found = await inTurn(user, () => readOne(data, "lines", limits, stop.signal));
      if (!("problem" in found)) return { text: joined(found.pages).slice(0, MAX_TEXT_LENGTH.lines) };
      const { problem, advice } = found;
      return { problem: advice === undefined ? problem : `${problem}. ${advice}` };
    },
    /** Reads a document that a tool asked for, until its call ends. */
    async readPages(
      user: string,
      data: Uint8Array,
      signal: AbortSignal,
    ): Promise<PdfDocument | { readonly problem: string }> {
      const either = AbortSignal.any([stop.signal, signal]);
      const found = await inTurn(user, () => readOne(data, "paragraphs", limits, either));
      return "problem" in found ? { problem: found.problem } : found;
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
  form: PdfForm,
  limits: ReaderLimits,
  signal: AbortSignal,
): Promise<PdfResult> {
  if (signal.aborted) return PROBLEMS.stopped;
  const library = fileURLToPath(import.meta.resolve("unpdf/pdfjs"));
  const file = moduleFile("kernel/files/document-child");
  const readable = [dirname(file), dirname(library), join(ROOT, "package.json")].filter((path) =>
    existsSync(path),
  );
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
    `${MAX_TEXT_LENGTH[form]}`,
    form,
  ];
  const child = spawn(process.execPath, args, { env: {}, stdio: ["pipe", "ignore", "ignore", "pipe"] });
  let stopped: PdfResult | undefined;
  const stopAs = (problem: PdfResult) => {
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
    if (bytes > MAX_TEXT_LENGTH[form] * 8) stopAs(PROBLEMS.large);
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

function answerOf(said: string): PdfResult {
  const reply = tryJson(said) as PdfReply | undefined;
  if (!reply) return PROBLEMS.broken;
  if (reply.status !== "ok") return PROBLEMS[reply.status] ?? PROBLEMS.broken;
  const { status: _, ...document } = reply;
  const pages = document.pages.map((page) => page.toWellFormed());
  return pages.every((page) => page.trim() === "") ? PROBLEMS.empty : { ...document, pages };
}

function joined(pages: readonly string[]): string {
  return pages.flatMap((page, at) => (page.trim() === "" ? [] : [`[Page ${at + 1}]\n${page}`])).join("\n\n");
}
