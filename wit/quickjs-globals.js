/** The globals that QuickJS lacks; bundled in by `postern tool build --engine quickjs`. */
import { log } from "postern:tool/host@0.1.0";

export class TextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(text = "") {
    const escaped = encodeURIComponent(text.toWellFormed());
    const bytes = [];
    for (let at = 0; at < escaped.length; at++) {
      if (escaped[at] === "%") {
        bytes.push(Number.parseInt(escaped.slice(at + 1, at + 3), 16));
        at += 2;
      } else bytes.push(escaped.charCodeAt(at));
    }
    return new Uint8Array(bytes);
  }

  encodeInto(text, into) {
    let read = 0;
    let written = 0;
    for (const sign of text) {
      const bytes = this.encode(sign);
      if (written + bytes.length > into.length) break;
      into.set(bytes, written);
      written += bytes.length;
      read += sign.length;
    }
    return { read, written };
  }
}

/** The bytes of a buffer, or of a view of one. */
function bytesOf(source) {
  if (source instanceof Uint8Array) return source;
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  throw new TypeError("TextDecoder decodes an ArrayBuffer or a view of one");
}

export class TextDecoder {
  #fatal;
  #ignoreBOM;

  constructor(encoding = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    if (!/^utf-?8$/i.test(encoding)) throw new RangeError(`TextDecoder supports only utf-8, not ${encoding}`);
    this.#fatal = fatal;
    this.#ignoreBOM = ignoreBOM;
  }

  get encoding() {
    return "utf-8";
  }

  get fatal() {
    return this.#fatal;
  }

  get ignoreBOM() {
    return this.#ignoreBOM;
  }

  decode(source = new Uint8Array(), { stream = false } = {}) {
    if (stream) throw new TypeError("TextDecoder decodes no streams with QuickJS");
    const bytes = bytesOf(source);
    const parts = [];
    let at = 0;
    while (at < bytes.length) {
      // Most text is ASCII for long stretches, which needs no decoding.
      let end = at;
      const limit = Math.min(bytes.length, at + 8192);
      while (end < limit && bytes[end] < 0x80) end++;
      if (end > at) {
        parts.push(String.fromCharCode.apply(undefined, bytes.subarray(at, end)));
        at = end;
        continue;
      }
      const { point, length } = readPoint(bytes, at);
      if (point === undefined && this.#fatal) throw new TypeError("The bytes are not UTF-8.");
      parts.push(String.fromCodePoint(point ?? 0xfffd));
      at += length;
    }
    if (parts[0] === "\uFEFF" && !this.#ignoreBOM) parts.shift();
    return parts.join("");
  }
}

/** For invalid bytes, consumes as many as could have started a character. */
function readPoint(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return { point: first, length: 1 };
  const wanted = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  if (wanted === 1 || first >= 0xf5) return { point: undefined, length: 1 };
  let point = first & (0xff >> (wanted + 1));
  for (let index = 1; index < wanted; index++) {
    const next = bytes[at + index];
    const isRight = next !== undefined && next >> 6 === 2 && isPossible(first, index, next);
    if (!isRight) return { point: undefined, length: index };
    point = (point << 6) | (next & 0x3f);
  }
  return { point, length: wanted };
}

/** The second byte reveals overlong forms, surrogates and code points beyond Unicode. */
function isPossible(first, index, next) {
  if (index !== 1) return true;
  if (first === 0xe0) return next >= 0xa0;
  if (first === 0xed) return next < 0xa0;
  if (first === 0xf0) return next >= 0x90;
  if (first === 0xf4) return next < 0x90;
  return true;
}

// The engine picks its seed while the component is built, and every call starts from that state: every call
// would get the same "random" numbers. So the time is mixed into every draw.
let state = 0;

function draw() {
  state = (state + 0x9e3779b9) | 0;
  let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

Math.random = () => {
  state ^= (Date.now() ^ (performance.now() * 1e6)) | 0;
  return (draw() * 2 ** 21 + (draw() >>> 11)) / 2 ** 53;
};

const show = (value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)));
const logAt =
  (level) =>
  (...values) =>
    log(level, values.map(show).join(" "));

export const console = {
  debug: logAt("debug"),
  log: logAt("info"),
  info: logAt("info"),
  warn: logAt("warn"),
  error: logAt("error"),
};
