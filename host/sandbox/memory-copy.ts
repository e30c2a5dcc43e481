/** The linear memories of an instance, and a copy from which they are put back after a call. */

/** Exports under which core modules were made to show their state; no component may use the prefix. */
export const PRIVATE = "postern-private:";

export interface Memories {
  bytes(): number;
  copy(): MemoryCopy;
}

/** The memories as they were when the copy was made. */
export interface MemoryCopy {
  /** False where a memory has grown since. */
  restore(): boolean;
}

/** Large enough that a chunk costs little to visit, small enough that most of them stay untouched. */
const CHUNK_BYTES = 16_384;

const ZERO = Buffer.alloc(CHUNK_BYTES);

/** Finds the memories that core instances show under private names. */
export function findMemories(cores: readonly { readonly exports: object }[]): Memories {
  const memories = cores.flatMap(({ exports }) =>
    Object.entries(exports).flatMap(([name, value]) =>
      name.startsWith(PRIVATE) && value instanceof WebAssembly.Memory ? [value] : [],
    ),
  );
  return {
    bytes: () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
    copy: () => {
      const copies = memories.map(copyMemory);
      return { restore: () => copies.every((copy) => copy.restore()) };
    },
  };
}

function copyMemory(memory: WebAssembly.Memory): MemoryCopy {
  const size = memory.buffer.byteLength;
  const live = Buffer.from(memory.buffer);
  const chunks: Buffer[] = [];
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const chunk = live.subarray(at, at + CHUNK_BYTES);
    chunks.push(chunk.equals(ZERO) ? ZERO : Buffer.from(chunk));
  }
  return {
    restore() {
      if (memory.buffer.byteLength !== size) return false;
      const now = Buffer.from(memory.buffer);
      for (const [index, chunk] of chunks.entries()) {
        const at = index * CHUNK_BYTES;
        // Comparing reads; copying everything would also write, and most chunks are as they were.
        if (now.compare(chunk, 0, CHUNK_BYTES, at, at + CHUNK_BYTES) !== 0) now.set(chunk, at);
      }
      return true;
    },
  };
}
