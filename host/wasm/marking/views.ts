/**
 * The glue writes arguments and results into memory itself, through views. In marked components it gets views that
 * mark: a `DataView` at each write, and a typed array, which the glue makes for one place and one use, for all of that
 * place when it is made.
 */
import { MARK_BITS, VIEW_MARKS } from "./names.ts";

const SETTERS = {
  BigInt64: 8,
  BigUint64: 8,
  Float16: 2,
  Float32: 4,
  Float64: 8,
  Int16: 2,
  Int32: 4,
  Int8: 1,
  Uint16: 2,
  Uint32: 4,
  Uint8: 1,
};

const ARRAYS = [...Object.keys(SETTERS), "Uint8Clamped"].map((type) => `${type}Array`);

/** Declarations that take the place of the global ones in the glue they are put before. */
export const MARKED_VIEWS = `
const VIEW_MARKS = Symbol.for(${JSON.stringify(VIEW_MARKS)});
const noteWrite = (buffer, at, length) =>
  buffer[VIEW_MARKS]?.fill(1, at >>> ${MARK_BITS}, (at + length >>> ${MARK_BITS}) + 1);
const DataView = class extends globalThis.DataView {
${Object.entries(SETTERS)
  .map(
    ([type, width]) =>
      `  set${type}(at, value, littleEndian) { noteWrite(this.buffer, this.byteOffset + at, ${width}); super.set${type}(at, value, littleEndian); }`,
  )
  .join("\n")}
};
${ARRAYS.map(
  (name) => `const ${name} = class extends globalThis.${name} {
  static get [Symbol.species]() { return globalThis.${name}; }
  static [Symbol.hasInstance](value) { return value instanceof globalThis.${name}; }
  constructor(from, at, length) { super(from, at, length); noteWrite(this.buffer, this.byteOffset, this.byteLength); }
};`,
).join("\n")}
`;
