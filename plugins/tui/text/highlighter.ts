/** Colours code in a thread that starts with the first block. Until the colours come, the code is shown without. */
import { Worker } from "node:worker_threads";
import { moduleFile } from "../../../kernel/kit/files.ts";

/** `kind` is a class of highlight.js: keyword, string, comment … */
export interface CodePiece {
  readonly text: string;
  readonly kind: string;
}

export interface HighlightRequest {
  readonly text: string;
  readonly language: string;
}

export type Highlighter = ReturnType<typeof createHighlighter>;

/** A block of usual length takes a few milliseconds. */
const TIMEOUT_MS = 1000;
const START_TIMEOUT_MS = 10_000;
const MAX_FAILURES = 5;
const MAX_KEPT = 200;
const WORKER = moduleFile("plugins/tui/text/highlighter-worker");

interface Known extends HighlightRequest {
  /** Undefined if it cannot be coloured. */
  readonly pieces: readonly CodePiece[] | undefined;
}

/** Calls `changed` when there are colours for something that was requested. */
export function createHighlighter(changed: () => void) {
  const known = new Map<string, Known>();
  const waiting: HighlightRequest[] = [];
  let worker: Worker | undefined;
  let running: HighlightRequest | undefined;
  let limit: NodeJS.Timeout | undefined;
  /** True once the thread has started and replied. */
  let isWarm = false;
  let failures = 0;

  function ask(request: HighlightRequest): void {
    if (running !== undefined && keyOf(running) === keyOf(request)) return;
    // While a block is still being written, only its newest text matters.
    const earlier = waiting.findIndex((each) => isBeginning(each, request));
    if (earlier === -1) waiting.push(request);
    else waiting[earlier] = request;
    next();
  }

  function next(): void {
    if (running !== undefined) return;
    // A text that begins like one that cannot be coloured cannot be coloured either.
    do running = waiting.shift();
    while (running !== undefined && isHopeless(running));
    if (running === undefined) return;
    worker ??= start();
    worker.postMessage(running);
    limit = setTimeout(fail, isWarm ? TIMEOUT_MS : START_TIMEOUT_MS).unref();
  }

  function beginningOf(request: HighlightRequest): Known | undefined {
    return [...known.values()].findLast((each) => isBeginning(each, request));
  }

  function isHopeless(request: HighlightRequest): boolean {
    const beginning = beginningOf(request);
    return failures >= MAX_FAILURES || (beginning !== undefined && beginning.pieces === undefined);
  }

  function start(): Worker {
    const bounds = { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 64 } };
    const started = new Worker(WORKER, bounds);
    started.unref();
    started.on("message", (pieces: Known["pieces"]) => {
      if (worker !== started) return;
      isWarm = true;
      settle(pieces);
    });
    started.on("error", () => {
      if (worker === started) fail();
    });
    return started;
  }

  function fail(): void {
    failures++;
    void worker?.terminate();
    worker = undefined;
    isWarm = false;
    settle(undefined);
  }

  function settle(pieces: Known["pieces"]): void {
    clearTimeout(limit);
    const done = running;
    running = undefined;
    if (done !== undefined) {
      // Earlier states of a block that was being written are not shown again.
      for (const [key, each] of known) if (isBeginning(each, done)) known.delete(key);
      known.set(keyOf(done), { ...done, pieces });
      const [oldest] = known.keys();
      if (known.size > MAX_KEPT && oldest !== undefined) known.delete(oldest);
    }
    next();
    changed();
  }

  return {
    /** Returns the code as far as it is coloured, and whether nothing more will come for it. */
    highlight(text: string, language: string): { pieces: readonly CodePiece[]; isFinal: boolean } {
      const found = known.get(keyOf({ text, language }));
      if (found) return { pieces: found.pieces ?? plainly(text), isFinal: true };
      if (language === "" || text === "" || isHopeless({ text, language }))
        return { pieces: plainly(text), isFinal: true };
      ask({ text, language });
      const { pieces = [], text: coloured = "" } = beginningOf({ text, language }) ?? {};
      return { pieces: [...pieces, ...plainly(text.slice(coloured.length))], isFinal: false };
    },
    async close(): Promise<void> {
      clearTimeout(limit);
      const ending = worker;
      worker = undefined;
      await ending?.terminate();
    },
  };
}

const keyOf = ({ text, language }: HighlightRequest) => `${language}\n${text}`;

function isBeginning(shorter: HighlightRequest, longer: HighlightRequest): boolean {
  return shorter.language === longer.language && longer.text.startsWith(shorter.text);
}

const plainly = (text: string): readonly CodePiece[] => (text === "" ? [] : [{ text, kind: "" }]);
