/** The effect of each instruction on the stack, for those that engines compiled to WebAssembly are made of. */

/** How many values a function or a block takes and leaves. */
export interface Signature {
  readonly params: number;
  readonly results: number;
}

const UNARY = packed(1, 1);
const BINARY = packed(2, 1);

function packed(pops: number, pushes: number): number {
  return pops * 4 + pushes;
}

export const pops = (effect: number) => effect >> 2;
export const pushes = (effect: number) => effect & 3;

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
export function effectOf(opcode: number, second: number): number {
  if (opcode !== 0xfc) return EFFECTS[opcode] as number;
  if (second <= 7) return UNARY; // saturating conversions
  if (second === 8 || second === 10 || second === 11) return packed(3, 0); // memory.init, copy and fill
  return -1;
}
