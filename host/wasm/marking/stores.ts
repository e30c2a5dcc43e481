/** Lists the instructions that write to linear memory, and marks what they write. */

import type { Cursor } from "../instructions.ts";
import type { Sink } from "./bytes.ts";
import { MARK_BITS } from "./names.ts";

const MARK_BYTES = 1 << MARK_BITS;

/** True where a mark covers bytes at a distance from the address it was made for. */
export function isCovered(distance: number, width: number): boolean {
  return distance >= -MARK_BYTES && distance + width <= MARK_BYTES;
}

/** The size of the memory that holds a mark for every page that an address of 32 bits can name. */
export const MARK_MEMORY_PAGES = 2 ** (32 - MARK_BITS - 16);

/** A module whose writes cannot be marked: it is compared instead. */
export class Unmarkable extends Error {}

const I32 = 0x7f;
const I64 = 0x7e;
const F32 = 0x7d;
const F64 = 0x7c;
const V128 = 0x7b;

export type Write =
  | {
      readonly kind: "store";
      readonly offset: number;
      readonly type: number;
      readonly width: number;
    }
  | { readonly kind: "bulk" };

const BULK: Write = { kind: "bulk" };

// From i32.store to i64.store32: types and widths.
const STORE_TYPES = [I32, I64, F32, F64, I32, I32, I64, I64, I64];
const STORE_WIDTHS = [4, 8, 4, 8, 1, 2, 1, 2, 4];

/** Reads the instruction under the cursor and returns what it writes, if anything; the cursor ends up anywhere. */
export function readWrite(code: Cursor): Write | undefined {
  const opcode = code.byte();
  if (opcode >= 0x36 && opcode <= 0x3e)
    return store(code, STORE_TYPES[opcode - 0x36] as number, STORE_WIDTHS[opcode - 0x36] as number);
  if (opcode === 0xfc) {
    const which = code.u32();
    if (which !== 8 && which !== 10 && which !== 11) return undefined;
    // memory.init names its segment first.
    if (which === 8) code.leb();
    refuseOthers(code.u32());
    return BULK;
  }
  if (opcode === 0xfd) {
    const which = code.u32();
    if (which === 11) return store(code, V128, 16);
    if (which >= 0x58 && which <= 0x5b) return store(code, V128, 1 << (which - 0x58));
    return undefined;
  }
  // Wait, notify, the fence and loads; no toolchain puts the others into code without threads.
  if (opcode === 0xfe && code.u32() >= 0x17) throw new Unmarkable("atomic writes");
  return undefined;
}

function store(code: Cursor, type: number, width: number): Write {
  const flags = code.u32();
  if ((flags & 0x40) !== 0) refuseOthers(code.u32());
  const offset = code.u32();
  return { kind: "store", offset, type, width };
}

function refuseOthers(memory: number): void {
  if (memory !== 0) throw new Unmarkable("writes to a second memory");
}

/** Locals of our own, which a function gets after its own ones as they are wanted. */
export class ScratchLocals {
  readonly #first: number;
  readonly #types: number[] = [];
  readonly #indexes = new Map<string, number>();

  constructor(first: number) {
    this.#first = first;
  }

  get types(): readonly number[] {
    return this.#types;
  }

  index(role: string, type: number): number {
    const key = `${role} ${type}`;
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = this.#first + this.#types.length;
    this.#types.push(type);
    this.#indexes.set(key, index);
    return index;
  }
}

const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const LOCAL_TEE = 0x22;
const I32_CONST = 0x41;
const I32_ADD = 0x6a;
const I32_SHR_U = 0x76;

/** Writes the code that marks; `marks` is the index of the memory that holds the marks. */
export class MarkWriter {
  readonly #out: Sink;
  readonly #marks: number;

  constructor(out: Sink, marks: number) {
    this.#out = out;
    this.#marks = marks;
  }

  /** Marks at a distance from what a local holds. It leaves the stack as it is. */
  local(index: number, distance: number): void {
    this.#get(index);
    this.#page(distance);
    this.#mark();
  }

  constant(address: number): void {
    this.#out.byte(I32_CONST);
    this.#out.signed(address >>> MARK_BITS);
    this.#mark();
  }

  /** Marks what a store of any address is about to write: address and value are taken off the stack and put back. */
  store({ type }: Write & { kind: "store" }, distance: number, scratch: ScratchLocals): void {
    const value = scratch.index("value", type);
    const address = scratch.index("address", I32);
    this.#set(value);
    this.#tee(address);
    this.#page(distance);
    this.#mark();
    this.#get(address);
    this.#get(value);
  }

  /** Marks what memory.copy, fill or init is about to write. Where this is outside of the marks it is outside of the memory. */
  bulk(scratch: ScratchLocals): void {
    const out = this.#out;
    const length = scratch.index("length", I32);
    const value = scratch.index("value", I32);
    const address = scratch.index("address", I32);
    this.#set(length);
    this.#set(value);
    this.#tee(address);
    this.#page(0);
    this.#mark();
    this.#get(length);
    this.#page(0);
    out.put(0x04, 0x40); // if
    this.#get(address);
    this.#page(0);
    out.put(I32_CONST, 1);
    this.#get(length);
    this.#page(0);
    out.put(I32_CONST, 1, I32_ADD, 0xfc, 11); // memory.fill
    out.leb(this.#marks);
    out.byte(0x0b); // end
    this.#get(address);
    this.#get(value);
    this.#get(length);
  }

  #page(distance: number): void {
    if (distance !== 0) {
      this.#out.byte(I32_CONST);
      this.#out.signed(distance);
      this.#out.byte(I32_ADD);
    }
    this.#out.put(I32_CONST, MARK_BITS, I32_SHR_U);
  }

  #mark(): void {
    this.#out.put(I32_CONST, 1, 0x3a, 0x40); // i32.store8 in a memory that is named
    this.#out.leb(this.#marks);
    this.#out.byte(0);
  }

  #get(index: number): void {
    this.#out.byte(LOCAL_GET);
    this.#out.leb(index);
  }

  #set(index: number): void {
    this.#out.byte(LOCAL_SET);
    this.#out.leb(index);
  }

  #tee(index: number): void {
    this.#out.byte(LOCAL_TEE);
    this.#out.leb(index);
  }
}
