/** Streams and futures of WASI 0.3. Those of a guest are read in pieces as we take them; those for a guest are read when it asks. */
import type { Holdings } from "./io.ts";
import type { Result } from "./responses.ts";

/** How the glue hands over a `stream<u8>` of the guest's. */
export interface GuestStream {
  read(wanted: { readonly count: number }): Promise<{
    readonly value?: Uint8Array | undefined;
    readonly done: boolean;
  }>;
  [Symbol.dispose](): void;
}

/** A future of the guest's. It rejects where the guest dropped it. */
export type GuestFuture<Value> = PromiseLike<Value>;

export type Done<Failure> = Promise<Result<undefined, Failure>>;

// A byte is a number on the host's heap while it is copied from or to a guest.
const PIECE_BYTES = 64 << 10;
const DONE = { tag: "ok", val: undefined } as const;

/** Resolves when the guest has closed its stream, or `take` has refused a piece; nothing more is read then. */
export async function drain<Failure>(
  stream: GuestStream,
  take: (bytes: Uint8Array) => void | Promise<void>,
  explain: (error: unknown) => Failure,
): Promise<Result<undefined, Failure>> {
  try {
    for (;;) {
      const { value, done } = await stream.read({ count: PIECE_BYTES });
      if (value !== undefined && value.byteLength > 0) await take(value);
      if (done) return DONE;
    }
  } catch (error) {
    return { tag: "err", val: explain(error) };
  } finally {
    stream[Symbol.dispose]();
  }
}

/** Bytes that are there already. They are let go of when the guest has read them or closes its end. */
export async function* pieces(bytes: Uint8Array, release: () => void = () => {}) {
  try {
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  } finally {
    release();
  }
}

export function done(): Promise<typeof DONE> {
  return Promise.resolve(DONE);
}

/** A guest may make any number of streams, and each costs the host more than it costs the guest. */
export function countStream(holdings: Holdings): void {
  holdings.countHandle();
}
