/** Vectors from a thread that is started when first needed and ended when long unused, for it holds 200 MB. */

import { Worker } from "node:worker_threads";
import { moduleFile } from "../../kernel/kit/files.ts";
import { Fault, type Log, reason } from "../../kernel/plugin.ts";

/** The thread is sent one text at a time, and answers before it gets the next. */
export type EmbeddingAnswer =
  | { readonly ready: true }
  | { readonly vector: Float32Array }
  | { readonly error: string };

export type Embedder = ReturnType<typeof createEmbedder>;

const IDLE_MS = 5 * 60_000;

interface Job {
  readonly text: string;
  resolve(vector: Float32Array): void;
  reject(error: Error): void;
}

export interface EmbedderOptions {
  readonly log: Log;
  readonly worker?: string;
  readonly idleMillis?: number;
}

const WORKER = moduleFile("plugins/memory/embedding-worker");

export function createEmbedder({ log, worker: file = WORKER, idleMillis = IDLE_MS }: EmbedderOptions) {
  let worker: Worker | undefined;
  let ready: PromiseWithResolvers<boolean> | undefined;
  let isLoaded = false;
  /** Why there will be no vectors until the next start. */
  let broken: string | undefined;
  let idle: NodeJS.Timeout | undefined;
  let current: Job | undefined;
  const urgentJobs: Job[] = [];
  const patientJobs: Job[] = [];

  function start(): void {
    if (worker || broken !== undefined) return;
    ready = Promise.withResolvers();
    const started = new Worker(file, { env: {}, execArgv: [] });
    worker = started;
    started.unref();
    started.on("message", onMessage);
    started.on("error", (error) => fail(started, reason(error)));
    started.on("exit", () => fail(started, "the thread ended"));
  }

  function onMessage(message: EmbeddingAnswer): void {
    if ("ready" in message) {
      isLoaded = true;
      ready?.resolve(true);
    } else {
      const job = current;
      current = undefined;
      if ("vector" in message) job?.resolve(message.vector);
      else job?.reject(new Error(message.error));
    }
    next();
  }

  function fail(ended: Worker, why: string): void {
    if (worker !== ended) return;
    broken = why;
    log.warn({ why }, "vector search is off until the next start; memory is searched by words only");
    drop(new Error(why));
  }

  function drop(error: Error): void {
    worker = undefined;
    isLoaded = false;
    ready?.resolve(false);
    clearTimeout(idle);
    const waiting = [...(current ? [current] : []), ...urgentJobs.splice(0), ...patientJobs.splice(0)];
    current = undefined;
    for (const job of waiting) job.reject(error);
  }

  function next(): void {
    if (!worker || !isLoaded || current) return;
    clearTimeout(idle);
    current = urgentJobs.shift() ?? patientJobs.shift();
    if (current) worker.postMessage(current.text);
    else idle = setTimeout(() => void stop("it was idle"), idleMillis).unref();
  }

  async function stop(why: string): Promise<void> {
    const ending = worker;
    drop(new Error(`vectors stopped: ${why}`));
    await ending?.terminate();
  }

  return {
    /** True once the model is loaded; asking starts the loading. */
    isReady(): boolean {
      start();
      return isLoaded;
    },
    /** Resolves when the model is loaded, or has failed to load for good. */
    async whenReady(): Promise<boolean> {
      start();
      return broken === undefined && (await ready?.promise) === true;
    },
    /** Urgent texts go before those that wait. Rejects where the model cannot be had. */
    embed(text: string, urgent: boolean = false): Promise<Float32Array> {
      start();
      if (broken !== undefined) return Promise.reject(new Error(broken));
      return new Promise((resolve, reject) => {
        (urgent ? urgentJobs : patientJobs).push({ text, resolve, reject });
        next();
      });
    },
    async close(): Promise<void> {
      broken ??= "memory is closed";
      await stop("memory is closed");
    },
  };
}

// The model reads 256 tokens: so many bytes of any language fit.
const READ_AT_ONCE_BYTES = 720;

/** A long text's vector is the mean of its pieces'. One piece at a time, so that others get theirs in between. */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<readonly Float32Array[]> {
  if (!(await embedder.whenReady())) throw unavailable("could not be loaded");
  const vectors: Float32Array[] = [];
  for (const text of texts) {
    const pieces: Float32Array[] = [];
    for (const piece of piecesOf(text)) {
      signal?.throwIfAborted();
      pieces.push(
        await embedder.embed(piece).catch((cause: unknown) => {
          throw unavailable("stopped", cause);
        }),
      );
    }
    vectors.push(meanOf(pieces));
  }
  return vectors;
}

const unavailable = (what: string, cause?: unknown) =>
  new Fault("unavailable", "embeddings_unavailable", `The embedding model ${what}.`, { cause });

/** Cut between words where there are any. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  let bytes = 0;
  for (const word of text.match(/\s{1,120}|\S{1,120}/gu) ?? []) {
    const more = Buffer.byteLength(word);
    if (bytes + more > READ_AT_ONCE_BYTES) {
      pieces.push(piece);
      [piece, bytes] = ["", 0];
    }
    piece += word;
    bytes += more;
  }
  return [...pieces, piece];
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array()] = vectors;
  if (vectors.length <= 1) return first;
  const mean = first.map((_, at) => vectors.reduce((sum, vector) => sum + (vector[at] ?? 0), 0));
  const length = Math.hypot(...mean) || 1;
  return mean.map((value) => value / length);
}
