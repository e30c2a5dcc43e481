/**
 * The text of a PDF. A stranger made it, so it is read in a process of its own: without files, network or environment, for
 * so long and with so much memory. Nothing that is in it runs there.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Fault } from "../fault.ts";
import { moduleFile, ROOT } from "../package.ts";
import { tryJson } from "../text/json.ts";
import type { PdfReply } from "./pdf-child.ts";

export type PdfText = { readonly text: string } | { readonly problem: string };

export interface PdfLimits {
  readonly millis: number;
  readonly memoryBytes: number;
}

const LIMITS: PdfLimits = { millis: 30_000, memoryBytes: 600 * 2 ** 20 };
// Far more than any model reads.
const MAX_TEXT_LENGTH = 4 * 2 ** 20;
const MAX_WAITING = 64;
const MAX_WAITING_PER_USER = 16;
const PROBLEMS = {
  broken: "cannot be read: it is damaged, or no PDF",
  memory: "cannot be read: it needs too much memory",
  password: "is protected by a password. Remove it, and attach the file again",
  empty: "has no text: its pages are probably pictures. Attach them as images",
};

/**
 * One at a time: each may take a core and the memory for as long as it is allowed. People take turns, so that somebody's
 * hundred do not hold up everybody else's one.
 */
export function createPdfReader(limits: PdfLimits = LIMITS) {
  const stop = new AbortController();
  const waiting: { readonly user: string; run(): Promise<void> }[] = [];
  /** When each was served last. */
  const served = new Map<string, number>();
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    for (let round = 1; waiting.length > 0; round++) {
      const next = waiting.reduce((first, one) =>
        (served.get(one.user) ?? 0) < (served.get(first.user) ?? 0) ? one : first,
      );
      waiting.splice(waiting.indexOf(next), 1);
      served.set(next.user, round);
      await next.run();
    }
    served.clear();
    working = undefined;
  }

  return {
    read(user: string, data: Uint8Array): Promise<PdfText> {
      if (
        waiting.length >= MAX_WAITING ||
        waiting.filter((one) => one.user === user).length >= MAX_WAITING_PER_USER
      )
        throw new Fault("limited", "pdf_busy", "Too many PDFs are being read. Try again in a moment.", {
          retryAfterSecs: 5,
        });
      const { promise, resolve, reject } = Promise.withResolvers<PdfText>();
      waiting.push({ user, run: () => readOne(data, limits, stop.signal).then(resolve, reject) });
      working ??= work();
      return promise;
    },
    async close(): Promise<void> {
      stop.abort();
      await working;
    },
  };
}

async function readOne(data: Uint8Array, limits: PdfLimits, signal: AbortSignal): Promise<PdfText> {
  if (signal.aborted) return { problem: "could not be read: Postern is stopping" };
  const library = fileURLToPath(import.meta.resolve("unpdf/pdfjs"));
  const file = moduleFile("kernel/files/pdf-child");
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
    `${MAX_TEXT_LENGTH}`,
  ];
  const child = spawn(process.execPath, args, { env: {}, stdio: ["pipe", "ignore", "ignore", "pipe"] });
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, limits.millis);
  const onStop = () => void child.kill("SIGKILL");
  signal.addEventListener("abort", onStop);
  const closed = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  const [given, , , answers] = child.stdio as unknown as [Writable, null, null, Readable];
  const chunks: Buffer[] = [];
  let bytes = 0;
  answers.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    // Escaped, a text may take several times its length; what goes beyond is not ours.
    if (bytes > MAX_TEXT_LENGTH * 8) child.kill("SIGKILL");
    else chunks.push(chunk);
  });
  // It may end before it has taken all.
  given.on("error", () => {});
  given.end(data);
  await closed;
  clearTimeout(deadline);
  signal.removeEventListener("abort", onStop);
  if (isLate) return { problem: `cannot be read: it took longer than ${limits.millis / 1000} seconds` };
  return answerOf(Buffer.concat(chunks).toString("utf8"));
}

function answerOf(said: string): PdfText {
  const reply = tryJson(said) as PdfReply | undefined;
  if (!reply) return { problem: PROBLEMS.broken };
  if (reply.status !== "ok") return { problem: PROBLEMS[reply.status] ?? PROBLEMS.broken };
  const text = reply.text.toWellFormed();
  return text.trim() === "" ? { problem: PROBLEMS.empty } : { text };
}
