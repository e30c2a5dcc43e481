/** Gathers spans for a thread that encodes and sends them. A slow or absent collector loses spans, but never delays a turn. */
import { Worker } from "node:worker_threads";
import { moduleFile } from "../../../kernel/kit/files.ts";
import { type Log, reason } from "../../../kernel/plugin.ts";
import type { TraceSettings } from "../settings.ts";
import type { SpanRecord } from "./spans.ts";

export interface Destination
  extends Pick<
    TraceSettings,
    "url" | "protocol" | "headers" | "timeoutMillis" | "delayMillis" | "resource"
  > {}

/** The thread's reply to each batch. `error` says why it was not sent. */
export interface BatchResult {
  readonly error?: string;
}

// The default of OpenTelemetry's own processor.
const BATCH_SPANS = 512;
/** Batches that may wait for the collector; further spans are dropped. */
const MAX_WAITING_BATCHES = 8;
/** A stop does not wait longer for a collector that is gone. */
const CLOSE_TIMEOUT_MS = 3_000;
/** The log gets at most one line about lost spans in this time. */
const LOG_INTERVAL_MS = 60_000;

const WORKER = moduleFile("plugins/telemetry/tracing/sender-worker");

export function createSender(destination: Destination, log: Log) {
  let gathered: SpanRecord[] = [];
  let timer: NodeJS.Timeout | undefined;
  let worker: Worker | undefined;
  /** The number of spans in each batch that is being sent. */
  const waiting: number[] = [];
  let drained: (() => void) | undefined;
  let lost = 0;
  let toldAt = Number.NEGATIVE_INFINITY;

  function hand(): void {
    clearTimeout(timer);
    timer = undefined;
    const batch = gathered;
    gathered = [];
    if (batch.length === 0) return;
    if (waiting.length >= MAX_WAITING_BATCHES) {
      lose(batch.length, "the collector is too slow");
      return;
    }
    waiting.push(batch.length);
    worker ??= start();
    // A string crosses to the other thread faster than objects do.
    worker.postMessage(JSON.stringify(batch));
  }

  function start(): Worker {
    const started = new Worker(WORKER, {
      workerData: destination,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
    started.unref();
    started.on("message", ({ error }: BatchResult) => {
      const count = waiting.shift() ?? 0;
      if (error !== undefined) lose(count, error);
      if (waiting.length === 0) drained?.();
    });
    started.on("error", (error) => fail(started, reason(error)));
    started.on("exit", () => fail(started, "the thread that sends them ended"));
    return started;
  }

  function fail(ended: Worker, why: string): void {
    if (worker !== ended) return;
    worker = undefined;
    const count = waiting.splice(0).reduce((sum, each) => sum + each, 0);
    if (count > 0) lose(count, why);
    drained?.();
  }

  function lose(count: number, why: string): void {
    lost += count;
    if (performance.now() - toldAt < LOG_INTERVAL_MS) return;
    toldAt = performance.now();
    log.warn({ code: "traces_lost", spans: lost, why }, `traces were lost: ${why}`);
    lost = 0;
  }

  return {
    send(span: SpanRecord): void {
      gathered.push(span);
      if (gathered.length >= BATCH_SPANS) hand();
      else timer ??= setTimeout(hand, destination.delayMillis).unref();
    },
    /** Sends what is left, if the collector accepts it in time. */
    async close(): Promise<void> {
      hand();
      if (waiting.length > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        drained = resolve;
        const limit = setTimeout(resolve, Math.min(CLOSE_TIMEOUT_MS, destination.timeoutMillis));
        await promise;
        clearTimeout(limit);
        const left = waiting.splice(0).reduce((sum, each) => sum + each, 0);
        if (left > 0) lose(left, "the collector did not answer before the stop");
      }
      const last = worker;
      worker = undefined;
      await last?.terminate();
    },
  };
}
