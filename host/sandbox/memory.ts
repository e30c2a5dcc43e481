/** Watches the memory of a tool's process from outside, and ends it where that is too much. */
import { readFileSync } from "node:fs";
import type { ToolProcess } from "./tool-process.ts";

// A guest that allocates as fast as it can gets no further between two looks than the allowance has room for.
const LOOK_MS = 10;

/** Private memory: what the machine gets back when the process ends. */
function heldBytes({ pid, reportedBytes }: ToolProcess): number {
  if (process.platform !== "linux") return reportedBytes;
  try {
    const [, kib] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return Number(kib ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Looks at a process again and again while it is busy, and ends it as soon as it holds more than it may. */
export class MemoryWatch {
  readonly #child: ToolProcess;
  readonly #limit: () => number;
  #timer: NodeJS.Timeout | undefined;
  bytes = 0;

  constructor(child: ToolProcess, limit: () => number) {
    this.#child = child;
    this.#limit = limit;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    this.bytes = heldBytes(this.#child);
    if (this.bytes > this.#limit()) this.#child.end("it held more memory than it may", true);
    if (!this.#child.isBusy) this.stop();
  }
}
