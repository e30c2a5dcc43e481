/**
 * Rewrites a function so that whatever it writes to memory is marked first. A mark before a store that traps is
 * harmless, and the marking code itself can neither trap nor be seen by the function.
 */

import { Cursor, step } from "../instructions.ts";
import type { Sink } from "./bytes.ts";
import { type Facts, type Signature, Untracked, ZERO } from "./facts.ts";
import { MARK_BITS } from "./names.ts";
import { isCovered, MarkWriter, readWrite, ScratchLocals, type Write } from "./stores.ts";

export interface Signatures {
  readonly types: readonly Signature[];
  readonly functions: readonly number[];
}

export interface FunctionCode {
  readonly module: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly type: Signature;
  readonly locals: number;
}

const GLOBAL_SET = 0x24;
const LOCAL_TEE = 0x22;
const I32_ADD = 0x6a;
const I32_SUB = 0x6b;

/**
 * Writes the function's instructions to `out` and returns the types of the locals that were added to it, or nothing
 * where it writes to no memory and stays as it is.
 */
export function markFunction(
  code: FunctionCode,
  { signatures, marks, facts, out }: { signatures: Signatures; marks: number; facts: Facts; out: Sink },
): readonly number[] | undefined {
  const before = out.length;
  if (!survey(code, facts)) {
    out.copy(code.module, code.start, code.end);
    return undefined;
  }
  try {
    return markTracked(code, signatures, facts, marks, out);
  } catch (error) {
    if (!(error instanceof Untracked)) throw error;
    out.length = before;
    return markEach(code, marks, out);
  }
}

function survey({ module, start, end }: FunctionCode, facts: Facts): boolean {
  const cursor = new Cursor(module, start);
  const operand = new Cursor(module);
  let writes = false;
  while (cursor.at < end) {
    const at = cursor.at;
    const opcode = module[at] as number;
    step(cursor);
    if (opcode === 0x21 || opcode === LOCAL_TEE) {
      operand.at = at + 1;
      facts.noteSet(operand.u32(), at);
    } else if (!writes && mayWrite(opcode)) {
      operand.at = at;
      writes = readWrite(operand) !== undefined;
    }
  }
  return writes;
}

function mayWrite(opcode: number): boolean {
  return (opcode >= 0x36 && opcode <= 0x3e) || (opcode >= 0xfc && opcode <= 0xfe);
}

function readSigned(cursor: Cursor): number {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = cursor.byte();
    value |= (byte & 0x7f) << shift;
    if (byte >= 0x80) continue;
    const unset = 25 - shift;
    return unset > 0 ? (value << unset) >> unset : value;
  }
}

type Store = Write & { readonly kind: "store" };

/** How far from the address to mark: not at all, where a mark for the address stands for the store. */
function nearOffset({ offset, width }: Store): number {
  return isCovered(offset, width) ? 0 : offset | 0;
}

function markEach({ module, start, end, type, locals }: FunctionCode, marks: number, out: Sink) {
  const scratch = new ScratchLocals(type.params + locals);
  const writer = new MarkWriter(out, marks);
  const cursor = new Cursor(module, start);
  const operand = new Cursor(module);
  while (cursor.at < end) {
    const at = cursor.at;
    step(cursor);
    if (mayWrite(module[at] as number)) {
      operand.at = at;
      const write = readWrite(operand);
      if (write?.kind === "store") writer.store(write, nearOffset(write), scratch);
      else if (write?.kind === "bulk") writer.bulk(scratch);
    }
    out.copy(module, at, cursor.at);
  }
  return scratch.types;
}

/** Marks only where nothing marked before stands for it. */
function markTracked(
  { module, start, end, type, locals }: FunctionCode,
  { types, functions }: Signatures,
  facts: Facts,
  marks: number,
  out: Sink,
): readonly number[] {
  const scratch = new ScratchLocals(type.params + locals);
  const writer = new MarkWriter(out, marks);
  const cursor = new Cursor(module, start);
  const operand = new Cursor(module);
  let copied = start;
  let previous = 0;
  const copyUpTo = (at: number) => {
    out.copy(module, copied, at);
    copied = at;
  };
  const signature = (index: number): Signature => {
    const found = types[index];
    if (found === undefined) throw new Untracked("an unknown type");
    return found;
  };
  const blockSignature = (): Signature => {
    const first = module[operand.at] as number;
    if (first === 0x40) return { params: 0, results: 0 };
    // A type index is a positive signed number; a value type reads as a negative one.
    if ((first & 0xc0) === 0x40) return { params: 0, results: 1 };
    return signature(operand.u32());
  };

  const markStore = (write: Store, address: number, at: number) => {
    const value = facts.valueAt(address);
    const distance = facts.distanceAt(address);
    if (value === ZERO) {
      const target = (distance >>> 0) + write.offset;
      // An address past 32 bits is outside of every memory.
      if (target >= 2 ** 32) return;
      // Constants have no local to be near to: each page is a value of its own.
      const page = -2 - (target >>> MARK_BITS);
      if (facts.markOf(page) !== undefined) return;
      copyUpTo(at);
      writer.constant(target);
      facts.mark(page, 0);
      return;
    }
    if (value < 0) {
      copyUpTo(at);
      writer.store(write, nearOffset(write), scratch);
      return;
    }
    const marked = facts.markOf(value);
    if (marked !== undefined && isCovered((distance + write.offset - marked) | 0, write.width)) return;
    copyUpTo(at);
    const local = facts.localAt(address);
    if (local < 0) {
      writer.store(write, nearOffset(write), scratch);
      facts.mark(value, (distance + nearOffset(write)) | 0);
      return;
    }
    // The local itself, where a mark for it stands for the store.
    const beyond = (distance + write.offset - facts.distanceOf(local)) | 0;
    const from = isCovered(beyond, write.width) ? 0 : beyond;
    writer.local(local, from);
    facts.mark(value, (facts.distanceOf(local) + from) | 0);
  };

  facts.begin(type.results);
  while (cursor.at < end) {
    const at = cursor.at;
    const opcode = module[at] as number;
    step(cursor);
    operand.at = at + 1;
    switch (opcode) {
      case 0x00: // unreachable
        facts.leave();
        break;
      case 0x02: // block
        facts.enter(blockSignature());
        break;
      case 0x03: // loop
        facts.enterLoop(blockSignature(), at);
        break;
      case 0x04: // if
        facts.pop();
        facts.enter(blockSignature());
        break;
      case 0x05: // else
        facts.otherwise();
        break;
      case 0x0b: // end
        facts.end();
        break;
      case 0x0c: // br
      case 0x0e: // br_table
      case 0x0f: // return
        facts.leave();
        break;
      case 0x0d: // br_if
        facts.pop();
        break;
      case 0x10: {
        const { params, results } = signature(functions[operand.u32()] ?? -1);
        facts.apply(params, results);
        break;
      }
      case 0x11: {
        const { params, results } = signature(operand.u32());
        facts.apply(params + 1, results);
        break;
      }
      case 0x20:
        facts.getLocal(operand.u32(), at);
        break;
      case 0x21:
        facts.setLocal(operand.u32(), at);
        break;
      case LOCAL_TEE: {
        const index = operand.u32();
        facts.setLocal(index, at);
        facts.getLocal(index, at);
        // The frame of a function on the stack in memory: nearly every function that has one writes to it.
        if (previous === I32_SUB && module[cursor.at] === GLOBAL_SET && facts.depth === 1) {
          copyUpTo(cursor.at);
          writer.local(index, 0);
          facts.mark(...facts.held(index));
        }
        break;
      }
      case 0x41:
        facts.push(ZERO, readSigned(operand));
        break;
      case I32_ADD:
        facts.add(1);
        break;
      case I32_SUB:
        facts.add(-1);
        break;
      default: {
        const effect = effectOf(opcode, module[at + 1] as number);
        if (effect < 0) throw new Untracked("an instruction whose effect is not known");
        if (!mayWrite(opcode)) {
          facts.apply(pops(effect), pushes(effect));
          break;
        }
        operand.at = at;
        const write = readWrite(operand);
        if (write?.kind !== "store") {
          const isDead = facts.isUnreachable;
          facts.apply(pops(effect), pushes(effect));
          if (write === undefined || isDead) break;
          copyUpTo(at);
          writer.bulk(scratch);
          break;
        }
        const isDead = facts.isUnreachable;
        facts.pop();
        const address = facts.pop();
        if (!isDead) markStore(write, address, at);
      }
    }
    previous = opcode;
  }
  if (facts.depth !== 0) throw new Untracked("a block is not closed");
  copyUpTo(end);
  return scratch.types;
}

const UNARY = packed(1, 1);
const BINARY = packed(2, 1);

function packed(pops: number, pushes: number): number {
  return pops * 4 + pushes;
}

const pops = (effect: number) => effect >> 2;
const pushes = (effect: number) => effect & 3;

/** Effects by opcode; -1 where the opcode alone does not say. */
const EFFECTS = new Int8Array(256).fill(-1);
const set = (from: number, to: number, effect: number) => EFFECTS.fill(effect, from, to + 1);

set(0x01, 0x01, packed(0, 0)); // nop
set(0x1a, 0x1a, packed(1, 0)); // drop
set(0x1b, 0x1c, packed(3, 1)); // select
set(0x23, 0x23, packed(0, 1)); // global.get
set(0x24, 0x24, packed(1, 0)); // global.set
set(0x28, 0x35, UNARY); // loads
set(0x36, 0x3e, packed(2, 0)); // stores
set(0x3f, 0x3f, packed(0, 1)); // memory.size
set(0x40, 0x40, UNARY); // memory.grow
set(0x41, 0x44, packed(0, 1)); // constants
set(0x45, 0xc4, BINARY); // arithmetic, except for what takes one operand:
set(0x45, 0x45, UNARY); // i32.eqz
set(0x50, 0x50, UNARY); // i64.eqz
set(0x67, 0x69, UNARY); // i32.clz, ctz, popcnt
set(0x79, 0x7b, UNARY); // i64.clz, ctz, popcnt
set(0x8b, 0x91, UNARY); // f32.abs to sqrt
set(0x99, 0x9f, UNARY); // f64.abs to sqrt
set(0xa7, 0xc4, UNARY); // conversions and sign extensions

/** The effect of an instruction that neither branches, calls nor touches locals; -1 where it is not known here. */
function effectOf(opcode: number, second: number): number {
  if (opcode !== 0xfc) return EFFECTS[opcode] as number;
  if (second <= 7) return UNARY; // saturating conversions
  if (second === 8 || second === 10 || second === 11) return packed(3, 0); // memory.init, copy and fill
  return -1;
}
