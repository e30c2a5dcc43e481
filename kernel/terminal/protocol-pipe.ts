/** Standard input and output of a command that another program starts and talks to. */
import { once } from "node:events";
import { Writable } from "node:stream";

/** Standard output belongs to the protocol: whatever else this process prints goes to standard error. */
export function takeOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, encoding, done) => void write(chunk as string, encoding, done),
  });
}

/** Resolves when the host closes our input, no longer reads our output, or ends us with a signal. */
export async function hostIsGone(wire: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([
      once(process.stdin, "end", { signal }),
      once(process.stdin, "close", { signal }),
      once(wire, "close", { signal }),
      once(process, "SIGTERM", { signal }),
      once(process, "SIGINT", { signal }),
    ]);
  } catch {
    // An input that cannot be read has ended.
  } finally {
    over.abort();
  }
}
