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
let worker: Worker | undefined;
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
  run(job);
}

function run(job: Job): void {
  worker ??= new Worker("/colouring.js", { type: "module" });
  const { text, language } = job;
  const end = (html: string | undefined, isLost: boolean) => {
    clearTimeout(timer);
    if (isLost) {
      worker?.terminate();
      worker = undefined;
    }
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(keyOf(job), html);
    if (html !== undefined) latest.set(language, { text, html });
    job.done(html);
    isBusy = false;
    next();
  };
  const timer = setTimeout(() => end(undefined, true), TIMEOUT_MS);
  worker.onmessage = ({ data }: MessageEvent<string | undefined>) => end(data, false);
  worker.onerror = () => end(undefined, true);
  worker.postMessage({ text, language });
}
