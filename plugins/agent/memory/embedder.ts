/** Vectors from a thread that is started when first needed and ended when long unused, for it holds 200 MB. */

import { Worker } from "node:worker_threads";
import { threadFile } from "../../../kernel/cli/thread-file.ts";
import { type Log, reason } from "../../../kernel/plugin.ts";

export interface EmbeddingRequest {
  readonly id: number;
  readonly text: string;
}

export type EmbeddingAnswer =
  | { readonly ready: true }
  | { readonly id: number; readonly vector: Float32Array }
  | { readonly id: number; readonly error: string };

export interface Embedder {
  /** True once the model is loaded; asking starts the loading. */
  isReady(): boolean;
  /** Resolves when the model is loaded, or has failed to load for good. */
  whenReady(): Promise<boolean>;
  /** Urgent texts go before those that wait. Rejects where the model cannot be had. */
  embed(text: string, urgent?: boolean): Promise<Float32Array>;
  close(): Promise<void>;
}

const IDLE_MILLIS = 5 * 60_000;

interface Job {
  readonly text: string;
  resolve(vector: Float32Array): void;
  reject(error: Error): void;
}

export interface EmbedderOptions {
  readonly log: Log;
  /** The thread's file. */
  readonly worker?: string;
  readonly idleMillis?: number;
}

const WORKER = threadFile("embedding-worker", import.meta.url);

export function createEmbedder({
  log,
  worker: file = WORKER,
  idleMillis = IDLE_MILLIS,
}: EmbedderOptions): Embedder {
  let worker: Worker | undefined;
  let ready: PromiseWithResolvers<boolean> | undefined;
  let isLoaded = false;
  /** Why there will be no vectors until the next start. */
  let broken: string | undefined;
  let idle: NodeJS.Timeout | undefined;
  let current: Job | undefined;
  const urgentJobs: Job[] = [];
  const patientJobs: Job[] = [];
  let lastId = 0;

  function start(): void {
    if (worker || broken !== undefined) return;
    ready = Promise.withResolvers();
    const started = new Worker(file, { env: {}, execArgv: [] });
    worker = started;
    started.unref();
    started.on("message", (message: EmbeddingAnswer) => onMessage(message));
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
    if (current) {
      lastId += 1;
      worker.postMessage({ id: lastId, text: current.text } satisfies EmbeddingRequest);
    } else {
      idle = setTimeout(() => void stop("it was idle"), idleMillis).unref();
    }
  }

  async function stop(why: string): Promise<void> {
    const ending = worker;
    drop(new Error(`vectors stopped: ${why}`));
    await ending?.terminate();
  }

  return {
    isReady() {
      start();
      return isLoaded;
    },
    async whenReady() {
      start();
      return broken === undefined && (await ready?.promise) === true;
    },
    embed(text, urgent = false) {
      start();
      if (broken !== undefined) return Promise.reject(new Error(broken));
      return new Promise((resolve, reject) => {
        (urgent ? urgentJobs : patientJobs).push({ text, resolve, reject });
        next();
      });
    },
    async close() {
      broken ??= "memory is closed";
      await stop("memory is closed");
    },
  };
}
