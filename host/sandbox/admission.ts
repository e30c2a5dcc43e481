/**
 * Who may run now. As many calls as there are cores compute at once; a call that sleeps in a request, or that
 * has been computing for long, no longer counts, so that neither slow servers nor endless loops hold up others.
 */

/** Long enough for nearly every honest computation, short enough to wait for behind a dishonest one. */
const LONG_MILLIS = 250;

export interface Slot {
  /** The call waits for something outside. */
  sleep(): void;
  /** The call computes again. */
  wake(): void;
  leave(): void;
}

export class Admission {
  readonly #cores: number;
  readonly #threads: number;
  readonly #queue = new Set<(slot: Slot) => void>();
  #inside = 0;
  #computing = 0;

  constructor(cores: number, threads: number) {
    this.#cores = cores;
    this.#threads = threads;
  }

  /** Rejects when `signal` is aborted first. */
  async enter(signal: AbortSignal): Promise<Slot> {
    if (!signal.aborted && this.#queue.size === 0 && this.#hasRoom()) return this.#open();
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#queue.delete(enter);
        reject(new Error("the call was ended before it began"));
      };
      const enter = (slot: Slot) => {
        signal.removeEventListener("abort", giveUp);
        resolve(slot);
      };
      if (signal.aborted) giveUp();
      else {
        signal.addEventListener("abort", giveUp, { once: true });
        this.#queue.add(enter);
        this.#admit();
      }
    });
  }

  #hasRoom(): boolean {
    return this.#computing < this.#cores && this.#inside < this.#threads;
  }

  #admit(): void {
    for (const enter of this.#queue) {
      if (!this.#hasRoom()) return;
      this.#queue.delete(enter);
      enter(this.#open());
    }
  }

  #open(): Slot {
    let isInside = true;
    let isComputing = false;
    let timer: NodeJS.Timeout | undefined;
    const sleep = () => {
      clearTimeout(timer);
      if (!isComputing) return;
      isComputing = false;
      this.#computing--;
      this.#admit();
    };
    const wake = () => {
      if (!isInside || isComputing) return;
      isComputing = true;
      this.#computing++;
      timer = setTimeout(sleep, LONG_MILLIS);
    };
    const leave = () => {
      if (!isInside) return;
      isInside = false;
      this.#inside--;
      sleep();
      this.#admit();
    };
    this.#inside++;
    wake();
    return { sleep, wake, leave };
  }
}
