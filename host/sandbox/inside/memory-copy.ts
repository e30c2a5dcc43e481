/**
 * The linear memories of an instance, and a copy from which they are put back after a call. Where all that writes to
 * a memory marks what it writes, what is marked is copied back; elsewhere everything is compared.
 */

import { MARK_BITS, MARKS, PRIVATE, VIEW_MARKS, WRITTEN } from "../../wasm/marking/names.ts";

const MARK_BYTES = 1 << MARK_BITS;
/** Addresses go round: the first page comes after the last one that 32 bits can name. */
const LAST_MARK = 2 ** (32 - MARK_BITS) - 1;

export type Image = readonly MemoryImage[];

interface MemoryImage {
  readonly chunks: readonly Buffer[];
  /** Numbers of the chunks that differ from what instantiation leaves; known once an instance became this image. */
  changed?: readonly number[];
}

export function findMemories(cores: readonly { readonly exports: object }[]) {
  const memories = new Map<WebAssembly.Memory, WebAssembly.Memory[]>();
  for (const { exports } of cores) {
    const shown = exports as Readonly<Record<string, unknown>>;
    const marks = shown[PRIVATE + MARKS];
    const written = shown[PRIVATE + WRITTEN];
    for (const [name, value] of Object.entries(shown)) {
      if (!name.startsWith(PRIVATE) || !(value instanceof WebAssembly.Memory) || value === marks) continue;
      const known = memories.get(value) ?? [];
      if (value === written && name === PRIVATE + WRITTEN) known.push(marks as WebAssembly.Memory);
      memories.set(value, known);
    }
  }
  return {
    bytes: (): number => [...memories.keys()].reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
    /** True where no guest's code has written to a memory that marks its writes. */
    isUnmarked: (): boolean =>
      [...memories].every(([memory, marks]) =>
        marks.every((one) => views(memory, one).every((view) => !view.includes(1))),
      ),
    /** The memories as they are. Shares with `first`, the image of another instance, what is equal in them. */
    image: (first?: Image): Image =>
      [...memories.keys()].map((memory, index) => copyMemory(memory, first?.[index])),
    /** Makes the memories those of the image. They hold what instantiation left in them: it is the same each time. */
    become(image: Image): void {
      for (const [index, [memory, marks]] of [...memories].entries())
        overwrite(memory, marks.length > 0, image[index] as MemoryImage);
    },
    /** From now on `restore` puts back what is in the image. */
    keep(image: Image) {
      const copies = [...memories].map(([memory, marks], index) =>
        keepMemory(memory, marks, (image[index] as MemoryImage).chunks),
      );
      return { restore: () => copies.every((copy) => copy.restore()) };
    },
  };
}

/** Large enough that a chunk costs little to visit, small enough that most of them stay untouched. */
const CHUNK_BYTES = 16_384;
const WASM_PAGE_BYTES = 65_536;

const ZERO = Buffer.alloc(CHUNK_BYTES);

function copyMemory({ buffer }: WebAssembly.Memory, first: MemoryImage | undefined): MemoryImage {
  const chunks: Buffer[] = [];
  for (let at = 0; at < buffer.byteLength; at += CHUNK_BYTES) {
    const chunk = Buffer.from(buffer, at, CHUNK_BYTES);
    const known = first?.chunks[chunks.length] ?? ZERO;
    chunks.push(chunk.equals(known) ? known : Buffer.from(chunk));
  }
  return { chunks };
}

function overwrite(memory: WebAssembly.Memory, isMarked: boolean, image: MemoryImage): void {
  const { chunks, changed = chunks.keys() } = image;
  const missing = chunks.length * CHUNK_BYTES - memory.buffer.byteLength;
  if (missing > 0) memory.grow(missing / WASM_PAGE_BYTES);
  const live = Buffer.from(memory.buffer);
  const different: number[] = [];
  for (const index of changed) {
    if (restoreChunk(live, index, chunks[index] as Buffer)) different.push(index);
  }
  if (isMarked) image.changed ??= different;
}

/** True where it was different. Comparing reads; copying would also write, and most chunks are as they were. */
function restoreChunk(live: Buffer, index: number, chunk: Buffer): boolean {
  const at = index * CHUNK_BYTES;
  if (live.compare(chunk, 0, CHUNK_BYTES, at, at + CHUNK_BYTES) === 0) return false;
  live.set(chunk, at);
  return true;
}

/** Marks come in groups: looking at the next few is quicker than asking for the next one. */
function nextMark(marked: Buffer, from: number): number {
  for (let page = from; page < from + 8; page++) if (marked[page] === 1) return page;
  return marked.indexOf(1, from);
}

/** The marks of a memory: a byte for each page and one just past the end, and that of the last possible page. */
function views({ buffer }: WebAssembly.Memory, marks: WebAssembly.Memory): readonly [Buffer, Buffer] {
  const pages = buffer.byteLength / MARK_BYTES + 1;
  return [Buffer.from(marks.buffer, 0, pages), Buffer.from(marks.buffer, LAST_MARK, 1)];
}

function keepMemory(
  memory: WebAssembly.Memory,
  marks: readonly WebAssembly.Memory[],
  chunks: readonly Buffer[],
) {
  let buffer = memory.buffer;
  const size = buffer.byteLength;
  const shown = marks.map((one) => views(memory, one));
  const byHost = Buffer.alloc(size / MARK_BYTES + 1);
  const written = [byHost, ...shown.map(([pages]) => pages)];
  const lastMarks = shown.map(([, last]) => last);
  const showMarks = () =>
    Object.defineProperty(buffer, Symbol.for(VIEW_MARKS), { value: byHost, configurable: true });
  if (marks.length > 0) showMarks();
  const clearMarks = () => {
    for (const one of [...written, ...lastMarks]) one.fill(0);
  };
  clearMarks();

  const restorePages = (live: Buffer, from: number, to: number) => {
    const end = Math.min(to * MARK_BYTES, size);
    for (let at = Math.max(from, 0) * MARK_BYTES, next = at; at < end; at = next) {
      const inChunk = at % CHUNK_BYTES;
      next = Math.min(at - inChunk + CHUNK_BYTES, end);
      (chunks[(at - inChunk) / CHUNK_BYTES] as Buffer).copy(live, at, inChunk, inChunk + next - at);
    }
  };
  const restoreMarked = (live: Buffer) => {
    for (const marked of written) {
      let from = 0;
      let to = 0;
      for (let page = nextMark(marked, 0); page !== -1; page = nextMark(marked, page + 1)) {
        marked[page] = 0;
        if (page - 1 > to) {
          restorePages(live, from, to);
          from = page - 1;
        }
        to = page + 2;
      }
      restorePages(live, from, to);
    }
    for (const last of lastMarks) {
      if (last[0] === 1) restorePages(live, 0, 1);
      last[0] = 0;
    }
  };
  const restoreDifferent = (live: Buffer) => {
    for (const [index, chunk] of chunks.entries()) restoreChunk(live, index, chunk);
  };

  return {
    /** False where a memory has grown since. */
    restore(): boolean {
      if (memory.buffer.byteLength !== size) return false;
      if (marks.length > 0 && memory.buffer === buffer) {
        restoreMarked(Buffer.from(buffer));
        return true;
      }
      restoreDifferent(Buffer.from(memory.buffer));
      // Growing by nothing makes a new buffer, and what the glue wrote since then was not marked.
      if (marks.length > 0) {
        buffer = memory.buffer;
        showMarks();
        clearMarks();
      }
      return true;
    },
  };
}
