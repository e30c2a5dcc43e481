/** Colours code in a worker, which is ended when it takes too long. Code without colours is plain text. */

export interface ColourRequest {
  readonly text: string;
  readonly language: string;
}

interface Job extends ColourRequest {
  readonly signal: AbortSignal;
  done(html: string | undefined): void;
}

const TIMEOUT_MS = 1000;
const MAX_KEPT = 200;

/** Kept because streaming text is rendered again with every piece. */
const kept = new Map<string, string | undefined>();
/** The last block of each language, so that a growing block keeps its colours. */
const latest = new Map<string, { readonly text: string; readonly html: string }>();
const jobs: Job[] = [];
let worker: Promise<Worker> | undefined;
let isBusy = false;

const keyOf = ({ text, language }: ColourRequest) => `${language}\n${text}`;

/** Returns known HTML for the beginning of the text, and the length of that beginning. */
export function knownColours(request: ColourRequest): { readonly html: string; readonly length: number } {
  const { text, language } = request;
  const whole = kept.get(keyOf(request));
  if (whole !== undefined) return { html: whole, length: text.length };
  const last = latest.get(language);
  return last !== undefined && text.startsWith(last.text)
    ? { html: last.html, length: last.text.length }
    : { html: "", length: 0 };
}

/** Returns undefined if the text already has colours or cannot have any. */
export function colour(request: ColourRequest, signal: AbortSignal): Promise<string | undefined> {
  if (request.language === "" || kept.has(keyOf(request))) return Promise.resolve(undefined);
  return new Promise((done) => {
    jobs.push({ ...request, signal, done });
    next();
  });
}

function next(): void {
  if (isBusy) return;
  let job = jobs.shift();
  while (job?.signal.aborted) {
    job.done(undefined);
    job = jobs.shift();
  }
  if (job === undefined) return;
  isBusy = true;
  void run(job);
}

async function run(job: Job): Promise<void> {
  const html = await inWorker(job).catch(() => {
    void worker?.then(
      (lost) => lost.terminate(),
      () => {},
    );
    worker = undefined;
    return undefined;
  });
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(keyOf(job), html);
  if (html !== undefined) latest.set(job.language, { text: job.text, html });
  job.done(html);
  isBusy = false;
  next();
}

/** Rejects when it takes too long. Loading the worker does not count: on a busy machine that is what takes longest. */
async function inWorker({ text, language }: ColourRequest): Promise<string | undefined> {
  worker ??= startWorker();
  const started = await worker;
  const answer = answerOf<string | undefined>(started);
  started.postMessage({ text, language });
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, TIMEOUT_MS);
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

async function startWorker(): Promise<Worker> {
  const started = new Worker("/colour-worker.js", { type: "module" });
  await answerOf<"ready">(started);
  return started;
}

const answerOf = <Data>(asked: Worker) =>
  new Promise<Data>((resolve, reject) => {
    asked.onmessage = ({ data }: MessageEvent<Data>) => resolve(data);
    asked.onerror = reject;
  });
