/** A reader of WebAssembly code: it understands just enough of every instruction to step over it. */

export class Cursor {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new RangeError("the module ends in the middle of something");
    return value;
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a number in the module is too long");
  }

  leb(): void {
    while (this.byte() >= 0x80);
  }

  skip(count: number): void {
    this.at += count;
    if (this.at > this.bytes.length) throw new RangeError("the module ends in the middle of something");
  }

  name(): string {
    const length = this.u32();
    const start = this.at;
    this.skip(length);
    return new TextDecoder().decode(this.bytes.subarray(start, this.at));
  }

  /** Reads a value type; a typed reference takes two numbers. Returns its first byte. */
  type(): number {
    const first = this.bytes[this.at] ?? 0;
    this.leb();
    if (first === 0x63 || first === 0x64) this.leb();
    return first;
  }
}

/** Effects of an instruction that neither memory nor globals show. */
export type Trace = "none" | "table" | "drop" | "heap" | "unknown";

const TABLE_SET = 0x26;

/** Steps over one instruction and says what it could leave behind. */
export function step(code: Cursor): Trace {
  const opcode = code.byte();
  if (opcode >= 0x45 && opcode <= 0xc4) return "none";
  if (opcode >= 0x28 && opcode <= 0x3e) return memoryArgument(code);
  switch (opcode) {
    case 0x00: // unreachable
    case 0x01: // nop
    case 0x05: // else
    case 0x0a: // throw_ref
    case 0x0b: // end
    case 0x0f: // return
    case 0x19: // catch_all
    case 0x1a: // drop
    case 0x1b: // select
    case 0xd1: // ref.is_null
    case 0xd3: // ref.eq
    case 0xd4: // ref.as_non_null
      return "none";
    case 0x02: // block
    case 0x03: // loop
    case 0x04: // if
    case 0x06: // try
      code.type();
      return "none";
    case 0x11: // call_indirect
    case 0x13: // return_call_indirect
      code.leb();
      code.leb();
      return "none";
    case TABLE_SET:
      code.leb();
      return "table";
    case 0x0e: // br_table
      for (let count = code.u32() + 1; count > 0; count--) code.leb();
      return "none";
    case 0x1c: // select with types
      for (let count = code.u32(); count > 0; count--) code.type();
      return "none";
    case 0x1f: // try_table
      code.type();
      for (let count = code.u32(); count > 0; count--) {
        if (code.byte() < 2) code.leb();
        code.leb();
      }
      return "none";
    case 0x43: // f32.const
      code.skip(4);
      return "none";
    case 0x44: // f64.const
      code.skip(8);
      return "none";
    case 0xfc:
      return bulk(code);
    case 0xfd:
      return vector(code);
    case 0xfe: {
      // Atomics: all take a memory argument but the fence.
      if (code.u32() !== 3) return memoryArgument(code);
      code.skip(1);
      return "none";
    }
    case 0xfb:
      return "heap";
  }
  // The rest take one number: an index, a label, a type or a constant.
  const takesOne =
    (opcode >= 0x07 && opcode <= 0x09) ||
    opcode === 0x0c ||
    opcode === 0x0d ||
    opcode === 0x10 ||
    opcode === 0x12 ||
    opcode === 0x14 ||
    opcode === 0x15 ||
    opcode === 0x18 ||
    (opcode >= 0x20 && opcode <= 0x25) ||
    (opcode >= 0x3f && opcode <= 0x42) ||
    opcode === 0xd0 ||
    opcode === 0xd2 ||
    opcode === 0xd5 ||
    opcode === 0xd6;
  if (!takesOne) return "unknown";
  code.leb();
  return "none";
}

function memoryArgument(code: Cursor): Trace {
  if ((code.u32() & 0x40) !== 0) code.leb();
  code.leb();
  return "none";
}

function bulk(code: Cursor): Trace {
  const which = code.u32();
  if (which <= 7 || (which >= 19 && which <= 22)) return "none";
  if (which > 17) return "unknown";
  code.leb();
  // memory.init, memory.copy, table.init and table.copy name two things.
  if (which === 8 || which === 10 || which === 12 || which === 14) code.leb();
  // data.drop and elem.drop.
  if (which === 9 || which === 13) return "drop";
  // table.init, table.copy, table.grow and table.fill.
  return which === 12 || which === 14 || which === 15 || which === 17 ? "table" : "none";
}

function vector(code: Cursor): Trace {
  const which = code.u32();
  if (which <= 11 || which === 0x5c || which === 0x5d) return memoryArgument(code);
  if (which === 12 || which === 13) code.skip(16);
  else if (which >= 0x15 && which <= 0x22) code.skip(1);
  else if (which >= 0x54 && which <= 0x5b) {
    memoryArgument(code);
    code.skip(1);
  } else if (which > 0x113) return "unknown";
  return "none";
}
