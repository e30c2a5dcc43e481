/** The linear memories of an instance, and a copy with which they are compared, and from which they are put back, after a call. */

import { PRIVATE } from "../../wasm/private-names.ts";

/** A memory's chunks. */
export type Image = readonly (readonly Buffer[])[];

export function findMemories(cores: readonly { readonly exports: object }[]) {
  const shown = cores.flatMap(({ exports }) =>
    Object.entries(exports).flatMap(([name, value]) =>
      name.startsWith(PRIVATE) && value instanceof WebAssembly.Memory ? [value] : [],
    ),
  );
  const memories = [...new Set(shown)];
  return {
    bytes: (): number => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
    /** The memories as they are. Shares with `first`, the image of another instance, what is equal in them. */
    image: (first?: Image): Image => memories.map((memory, index) => copyMemory(memory, first?.[index])),
    /** Makes the memories those of the image. */
    become(image: Image): void {
      for (const [index, memory] of memories.entries()) {
        const chunks = image[index] as readonly Buffer[];
        const missing = chunks.length * CHUNK_BYTES - memory.buffer.byteLength;
        if (missing > 0) memory.grow(missing / WASM_PAGE_BYTES);
        restoreChunks(memory, chunks);
      }
    },
    /** From now on `restore` puts back what is in the image; it returns false if a memory has grown since. */
    keep(image: Image) {
      const sizes = memories.map(({ buffer }) => buffer.byteLength);
      return {
        restore: () =>
          memories.every((memory, index) => {
            if (memory.buffer.byteLength !== sizes[index]) return false;
            restoreChunks(memory, image[index] as readonly Buffer[]);
            return true;
          }),
      };
    },
  };
}

/** Large enough that a chunk costs little to visit, small enough that most of them stay untouched. */
const CHUNK_BYTES = 16_384;
const WASM_PAGE_BYTES = 65_536;

const ZERO = Buffer.alloc(CHUNK_BYTES);

function copyMemory({ buffer }: WebAssembly.Memory, first: readonly Buffer[] | undefined): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < buffer.byteLength; at += CHUNK_BYTES) {
    const chunk = Buffer.from(buffer, at, CHUNK_BYTES);
    const known = first?.[chunks.length] ?? ZERO;
    chunks.push(chunk.equals(known) ? known : Buffer.from(chunk));
  }
  return chunks;
}

/** Comparing reads; copying would also write, and most chunks are as they were. */
function restoreChunks({ buffer }: WebAssembly.Memory, chunks: readonly Buffer[]): void {
  const live = Buffer.from(buffer);
  for (const [index, chunk] of chunks.entries()) {
    const at = index * CHUNK_BYTES;
    if (live.compare(chunk, 0, CHUNK_BYTES, at, at + CHUNK_BYTES) !== 0) live.set(chunk, at);
  }
}
