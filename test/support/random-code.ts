/** The functions of random modules: statements and expressions in bytes, of types that fit together. */
import { leb } from "../../host/wasm/module-sections.ts";

export const I32 = 0x7f;
const I64 = 0x7e;
const F32 = 0x7d;
const F64 = 0x7c;
const V128 = 0x7b;

export const FUNCTIONS = 4;
/** All functions take two numbers and answer one. */
export const PARAMS = [I32, I32];
const LOCALS = [I32, I32, I32, I32, I64, F32, F64, V128];
const ADDRESSES = [0, 1, 2, 3, 4, 5];
/** Locals that count how often loops run: one for each depth. */
const COUNTERS = [10, 11, 12, 13];
const STACK_POINTER = 0;

export function constant(value: number): number[] {
  return [0x41, ...signed(value)];
}

function signed(value: number): number[] {
  const out: number[] = [];
  let rest = value | 0;
  while (rest < -64 || rest > 63) {
    out.push((rest & 0x7f) | 0x80);
    rest >>= 7;
  }
  return [...out, rest & 0x7f];
}

const STORES = [
  { opcode: [0x36], type: I32 },
  { opcode: [0x37], type: I64 },
  { opcode: [0x38], type: F32 },
  { opcode: [0x39], type: F64 },
  { opcode: [0x3a], type: I32 },
  { opcode: [0x3b], type: I32 },
  { opcode: [0x3c], type: I64 },
  { opcode: [0x3d], type: I64 },
  { opcode: [0x3e], type: I64 },
];

export class RandomCode {
  readonly #random: (below: number) => number;
  readonly #index: number;
  readonly #pages: number;
  readonly #usesVectors: boolean;
  #loops = 0;
  #labels = 0;

  constructor(random: (below: number) => number, index: number, pages: number, usesVectors: boolean) {
    this.#random = random;
    this.#index = index;
    this.#pages = pages;
    this.#usesVectors = usesVectors;
  }

  body(): number[] {
    const locals = [...LOCALS, ...COUNTERS.map(() => I32)];
    const declared = [...leb(locals.length), ...locals.flatMap((type) => [1, type])];
    const size = this.#pick([16, 64, 1040, 9000]);
    const frame = [0x23, STACK_POINTER, ...constant(size), 0x6b, 0x22, 2, 0x24, STACK_POINTER];
    const hasFrame = this.#random(2) === 0;
    const starts = [3, 4, 5].flatMap((local) => [...constant(this.#random(65_536)), 0x21, local]);
    const code = [...(hasFrame ? frame : []), ...starts, ...this.#statements(5), ...this.#i32(3)];
    const release = hasFrame ? [0x23, STACK_POINTER, ...constant(size), 0x6a, 0x24, STACK_POINTER] : [];
    return [...declared, ...code, ...release, 0x0b];
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#random(items.length)] as Item;
  }

  /** Code that may branch to so many more labels. */
  #nested(labels: number, work: () => number[]): number[] {
    this.#labels += labels;
    const made = work();
    this.#labels -= labels;
    return made;
  }

  #statements(depth: number): number[] {
    return Array.from({ length: 1 + this.#random(5) }, () => this.#statement(depth)).flat();
  }

  #statement(depth: number): number[] {
    switch (this.#random(depth > 0 ? 16 : 10)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return this.#store(depth);
      case 5:
        return [...this.#address(depth), 0x21, this.#pick(ADDRESSES)];
      case 6:
        return this.#moveLocal();
      case 7:
        return this.#bulk(depth);
      case 8:
        if (this.#random(3) > 0) return [...this.#within(depth), 0x21, this.#pick(ADDRESSES)];
        return this.#rare(depth);
      case 9:
        return this.#labels > 0 ? [...this.#i32(depth), 0x0d, this.#random(this.#labels)] : [0x01];
      case 10:
      case 11:
        return [0x02, 0x40, ...this.#nested(1, () => this.#statements(depth - 1)), ...this.#leave(), 0x0b];
      case 12:
        return [
          ...this.#i32(depth - 1),
          0x04,
          0x40,
          ...this.#nested(1, () => this.#statements(depth - 1)),
          0x05,
          ...this.#nested(1, () => this.#statements(depth - 1)),
          0x0b,
        ];
      case 13:
        return this.#loop(depth);
      case 14:
        return this.#typedBlock(depth);
      default:
        return this.#call(depth);
    }
  }

  /** A block that takes and leaves a number, so that nothing inside branches to it or past it. */
  #typedBlock(depth: number): number[] {
    const labels = this.#labels;
    this.#labels = 0;
    const inside = this.#statements(depth - 1);
    this.#labels = labels;
    return [...this.#i32(depth - 1), 0x02, 1, ...inside, 0x0b, 0x21, this.#pick(ADDRESSES)];
  }

  /** Sometimes code that is never reached, at the end of a block. */
  #leave(): number[] {
    if (this.#random(4) > 0) return [];
    return [0x0c, 0, ...(this.#random(2) === 0 ? this.#store(0) : [])];
  }

  /** Counts down where it begins, so that a branch from anywhere inside ends it sooner or later. */
  #loop(depth: number): number[] {
    const counter = COUNTERS[this.#loops];
    if (counter === undefined) return this.#store(depth);
    this.#loops++;
    const inside = this.#nested(2, () => this.#statements(depth - 1));
    this.#loops--;
    const count = [0x20, counter, 0x45, 0x0d, 1, 0x20, counter, ...constant(1), 0x6b, 0x21, counter];
    const loop = [0x03, 0x40, ...count, ...inside, 0x0c, 0, 0x0b];
    return [...constant(1 + this.#random(4)), 0x21, counter, 0x02, 0x40, ...loop, 0x0b];
  }

  #call(depth: number): number[] {
    const target = this.#index + 1 + this.#random(2);
    if (target >= FUNCTIONS || this.#loops > 1) return this.#moveLocal();
    return [...this.#address(depth - 1), ...this.#i32(depth - 1), 0x10, target, 0x21, this.#pick(ADDRESSES)];
  }

  #moveLocal(): number[] {
    const step = this.#pick([1, 8, 16, 100, 500, 1000, 1025, 3000, 9000, -8, -16, -1000]);
    const operation = this.#pick([0x6a, 0x6a, 0x6b]);
    const source = this.#pick(ADDRESSES);
    const target = this.#random(2) === 0 ? source : this.#pick(ADDRESSES);
    return [0x20, source, ...constant(step), operation, 0x21, target];
  }

  #rare(depth: number): number[] {
    switch (this.#random(6)) {
      case 0:
        return [...constant(this.#random(2)), 0x40, 0, 0x1a]; // memory.grow
      case 1:
        return [...this.#i32(depth), ...constant(3), 0x71, 0x45, 0x04, 0x40, 0x00, 0x0b]; // a trap, sometimes
      default:
        return [0x3f, 0, 0x21, this.#pick(ADDRESSES)]; // memory.size
    }
  }

  #offset(): number[] {
    const far = [1019, 1023, 1024, 2047, 4096, 65_530, this.#pages * 65_536 - 4, 2 ** 31, 2 ** 32 - 1];
    return leb(
      this.#random(5) > 0 ? this.#random(64) : this.#random(8) > 0 ? this.#random(3000) : this.#pick(far),
    );
  }

  #store(depth: number): number[] {
    if (this.#usesVectors && this.#random(4) === 0) return this.#vectorStore(depth);
    const { opcode, type } = this.#pick(STORES);
    return [...this.#address(depth), ...this.#value(type, depth), ...opcode, 0, ...this.#offset()];
  }

  #vectorStore(depth: number): number[] {
    const operands = [...this.#address(depth), 0x20, 9];
    if (this.#random(2) === 0) return [...operands, 0xfd, 11, 0, ...this.#offset()];
    const lanes = this.#random(4);
    return [...operands, 0xfd, 0x58 + lanes, 0, ...this.#offset(), this.#random(16 >> lanes)];
  }

  #bulk(depth: number): number[] {
    const lengths = [0, 1, 7, 100, 1023, 1024, 1025, 3000];
    const length =
      this.#random(20) === 0
        ? this.#i32(depth)
        : this.#random(3) > 0
          ? constant(this.#pick(lengths))
          : [...this.#i32(depth), ...constant(0xfff), 0x71];
    switch (this.#random(3)) {
      case 0:
        return [...this.#address(depth), ...this.#address(depth), ...length, 0xfc, 10, 0, 0];
      case 1:
        return [...this.#address(depth), ...this.#i32(depth), ...length, 0xfc, 11, 0];
      default:
        return [
          ...this.#address(depth),
          ...constant(this.#random(3900)),
          ...constant(this.#random(1100)),
          0xfc,
          8,
          0,
          0,
        ];
    }
  }

  /** Mostly within the memory. */
  #address(depth: number): number[] {
    const local = () => [0x20, this.#pick(ADDRESSES)];
    switch (this.#random(20) === 0 ? 1 : this.#random(10)) {
      case 0:
        return constant(this.#random(this.#pages * 65_536));
      case 1:
        return constant(this.#pick([0, 1020, 1024, 65_535, this.#pages * 65_536 - 1, -1, -8]));
      case 2:
        return [...local(), ...constant(this.#random(3000) - 1000), 0x6a];
      case 3:
        return [...local(), ...constant(this.#random(200)), 0x6b];
      case 4:
        return this.#within(depth);
      case 5:
        return [...local(), 0x22, this.#pick(ADDRESSES)];
      case 6:
        return [...constant(this.#random(600)), ...local(), 0x6a];
      case 7:
        return [...local(), ...local(), 0x6a];
      case 8:
        return [...local(), ...constant(0xfffc), 0x71];
      default:
        return local();
    }
  }

  #within(depth: number): number[] {
    return [...this.#i32(depth), ...constant(0xffff), 0x71];
  }

  #value(type: number, depth: number): number[] {
    if (type === I32) return this.#i32(depth);
    // Sets a local while the address of a store waits on the stack.
    const moved = this.#random(4) === 0 ? this.#moveLocal() : [];
    if (type === I64) return [...moved, ...this.#i32(depth), 0xad];
    if (type === F32) return [...moved, ...this.#i32(depth), 0xb3];
    return [...moved, ...this.#i32(depth), 0xb7];
  }

  #i32(depth: number): number[] {
    switch (this.#random(depth > 0 ? 7 : 3)) {
      case 0:
        return constant(this.#random(2 ** 32));
      case 1:
        return [0x20, this.#pick(ADDRESSES)];
      case 2:
        return [0x20, this.#pick(ADDRESSES), ...constant(0xfff), 0x71];
      case 3:
        return [...this.#i32(depth - 1), ...this.#i32(depth - 1), this.#pick([0x6a, 0x6b, 0x6c, 0x73])];
      case 4:
        return [...this.#address(depth - 1), ...constant(0xffff), 0x71, 0x28, 0, 0]; // i32.load
      case 5:
        return [...this.#i32(depth - 1), ...this.#i32(depth - 1), ...this.#i32(depth - 1), 0x1b]; // select
      default:
        return [
          ...(this.#random(20) > 0 ? this.#within(depth - 1) : this.#i32(depth - 1)),
          0x22,
          this.#pick(ADDRESSES),
        ];
    }
  }
}
