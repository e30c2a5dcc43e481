/**
 * The objects of a PDF file. They are found by looking for them, not by the file's own index, which is wrong or missing in
 * many files; the last of a number counts, as later revisions are appended. Nothing here runs what is in the file.
 */
import { Inflate } from "fflate";

/** Limits all streams of a file together, packed and unpacked, because a stream can be made to grow a thousandfold. */
const MAX_UNPACKED = 12 << 20;
/** What a stream counts for however short it is: one may be drawn a million times. */
const MIN_COST = 100;
/** Limits all objects together, because a file can be made in which each object reaches to its end. */
const MAX_LEXED = 12 << 20;
/** What is taken in before looking at what came out. */
const PACKED_CHUNK = 1 << 12;
const MAX_OBJECTS = 200_000;
const MAX_TRAILERS = 100;
const MAX_DEPTH = 40;
const MAX_ITEMS = 200_000;

/** Says whether there is time for this much more work; a step is about what reading one value takes. */
export type MayGoOn = (steps?: number) => boolean;
const CHUNK_STEPS = 1_000;

/** A name is a text with its slash: "/Type". */
export type Value = null | boolean | number | string | Characters | Operator | Ref | Dict | Stream | Value[];
export type Dict = Map<string, Value>;

/** A text of the file, one character for each byte. */
export class Characters {
  readonly bytes: string;

  constructor(bytes: string) {
    this.bytes = bytes;
  }
}

export class Operator {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

class Ref {
  readonly number: number;

  constructor(number: number) {
    this.number = number;
  }
}

export class Stream {
  readonly dict: Dict;
  readonly start: number;

  constructor(dict: Dict, start: number) {
    this.dict = dict;
    this.start = start;
  }
}

interface Place {
  readonly source: string;
  readonly at: number;
  /** Where the object ends, or its stream begins. */
  end: number;
  isStream: boolean;
}

const OBJECT =
  /(?<!\d)(\d{1,9})\s{1,9}\d{1,5}\s{1,9}obj(?![a-z])|(?<!d)stream\r?\n|\btrailer\b|\/ObjStm\b|\/XRef\b/g;

export class PdfFile {
  readonly #bytes: Uint8Array;
  readonly #source: string;
  readonly #places = new Map<number, Place>();
  readonly #read = new Map<number, Value>();
  readonly #trailers: Dict[] = [];
  readonly #mayGoOn: MayGoOn;
  #unpacked = 0;
  #lexed = 0;

  constructor(bytes: Uint8Array, mayGoOn: MayGoOn) {
    this.#bytes = bytes;
    this.#mayGoOn = mayGoOn;
    this.#source = latin1(bytes);
    const source = this.#source;
    const packed: number[] = [];
    let number = -1;
    let place: Place | undefined;
    OBJECT.lastIndex = 0;
    for (let found = OBJECT.exec(source); found !== null; found = OBJECT.exec(source)) {
      const [whole, begun] = found;
      const after = OBJECT.lastIndex;
      if (begun !== undefined || whole === "trailer") {
        if (place !== undefined && !place.isStream) place.end = found.index;
        number = begun === undefined ? -1 : Number(begun);
        place = { source, at: after, end: source.length, isStream: false };
        if (this.#places.size >= MAX_OBJECTS || !mayGoOn()) break;
        if (begun === undefined) this.#trailer(place);
        else this.#places.set(number, place);
      } else if (whole === "/ObjStm") packed.push(number);
      else if (whole === "/XRef") {
        if (place !== undefined) this.#trailer(place);
      } else {
        if (place !== undefined && !place.isStream) Object.assign(place, { end: after, isStream: true });
        const end = source.indexOf("endstream", after);
        if (end === -1) break;
        OBJECT.lastIndex = end + 9;
      }
    }
    for (const one of new Set(packed)) this.#unpackObjects(one);
  }

  /** More came out of the file than is read. */
  get isCut(): boolean {
    return this.#unpacked >= MAX_UNPACKED || this.#lexed >= MAX_LEXED;
  }

  get isEncrypted(): boolean {
    return this.#trailers.some((trailer) => trailer.has("/Encrypt"));
  }

  /** The dictionary that an entry of the trailer leads to. */
  fromTrailer(name: string): Dict | undefined {
    for (const trailer of this.#trailers.toReversed()) {
      const found = this.dict(trailer.get(name));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The first dictionary of this type; for files without a trailer. */
  findType(type: string): Dict | undefined {
    for (const number of this.#places.keys()) {
      if (!this.#mayGoOn()) return undefined;
      const found = this.dict(this.#object(number));
      if (found?.get("/Type") === type) return found;
    }
    return undefined;
  }

  resolve(value: Value | undefined): Value | undefined {
    let found = value;
    for (let hop = 0; found instanceof Ref && hop < MAX_DEPTH; hop++) found = this.#object(found.number);
    return found instanceof Ref ? undefined : found;
  }

  dict(value: Value | undefined): Dict | undefined {
    const found = this.resolve(value);
    if (found instanceof Stream) return found.dict;
    return found instanceof Map ? found : undefined;
  }

  list(value: Value | undefined): Value[] {
    const found = this.resolve(value);
    return Array.isArray(found) ? found : [];
  }

  number(value: Value | undefined, otherwise: number): number {
    const found = this.resolve(value);
    return typeof found === "number" ? found : otherwise;
  }

  /** What a stream holds, as text of one character for each byte; undefined where it is packed in a way for pictures. */
  unpack(value: Value | undefined): string | undefined {
    const stream = this.resolve(value);
    if (!(stream instanceof Stream)) return undefined;
    const { dict, start } = stream;
    const filters = this.#filters(dict);
    if (!filters.every((filter) => filter in FILTERS) || this.isCut) return undefined;
    const given = this.number(dict.get("/Length"), -1);
    const isGiven =
      given >= 0 && /^\s{0,2}endstream/.test(this.#source.slice(start + given, start + given + 12));
    const found = isGiven ? start + given : this.#source.indexOf("endstream", start);
    let bytes = this.#bytes.subarray(start, found === -1 ? undefined : found);
    this.#unpacked += bytes.length + MIN_COST;
    for (const filter of filters) {
      bytes = FILTERS[filter]?.(bytes, MAX_UNPACKED - this.#unpacked, this.#mayGoOn) ?? bytes;
      this.#unpacked += bytes.length;
    }
    return latin1(bytes);
  }

  #filters(dict: Dict): string[] {
    const filter = this.resolve(dict.get("/Filter"));
    const all = Array.isArray(filter) ? filter.slice(0, 4) : [filter];
    return all.map((one) => this.resolve(one)).filter((one) => typeof one === "string");
  }

  #trailer(place: Place): void {
    const found = this.#lex(place);
    const dict = found instanceof Stream ? found.dict : found;
    if (dict instanceof Map && this.#trailers.length < MAX_TRAILERS) this.#trailers.push(dict);
  }

  #lex({ source, at, end, isStream }: Place): Value {
    this.#lexed += end - at;
    if (this.#lexed > MAX_LEXED) return null;
    const value = new Lexer(source.slice(at, end), this.#mayGoOn).value() ?? null;
    return isStream && value instanceof Map ? new Stream(value, end) : value;
  }

  #object(number: number): Value {
    const known = this.#read.get(number);
    if (known !== undefined) return known;
    const place = this.#places.get(number);
    const value = place === undefined ? null : this.#lex(place);
    this.#read.set(number, value);
    return value;
  }

  /** Objects may be packed together into a stream: pairs of number and place, then the objects. */
  #unpackObjects(number: number): void {
    const stream = this.#object(number);
    const outer = this.#places.get(number);
    const source = stream instanceof Stream ? this.unpack(stream) : undefined;
    if (source === undefined || outer === undefined || !(stream instanceof Stream)) return;
    const first = this.number(stream.dict.get("/First"), 0);
    const numbers = (source.slice(0, first).match(/\d+/g) ?? []).map(Number);
    const inside: [number: number, at: number][] = [];
    for (let at = 0; at + 1 < numbers.length; at += 2)
      inside.push([numbers[at] ?? 0, first + (numbers[at + 1] ?? 0)]);
    inside.sort(([, one], [, other]) => one - other);
    for (const [place, [inner, at]] of inside.entries()) {
      const other = this.#places.get(inner);
      const isOlder = other?.source === this.#source && other.at > outer.at;
      const end = inside[place + 1]?.[1] ?? source.length;
      if (!isOlder && this.#places.size < MAX_OBJECTS)
        this.#places.set(inner, { source, at, end, isStream: false });
    }
  }
}

const BLANK = /[\0\s]*/y;
const COMMENT = /%[^\r\n]*/y;
const TOKEN = /[^\0\s()<>[\]{}/%]+/y;
const NAME = /\/[^\0\s()<>[\]{}/%]*/y;
const HEX = /<([^<>]*)>/y;
const REF = /\s+\d{1,5}\s+R(?![^\0\s()<>[\]{}/%])/y;

/** Reads values one after the other. It does not end at what is wrong: that is skipped. */
export class Lexer {
  readonly #source: string;
  readonly #mayGoOn: MayGoOn;
  at = 0;

  constructor(source: string, mayGoOn: MayGoOn) {
    this.#source = source;
    this.#mayGoOn = mayGoOn;
  }

  /** The next value; undefined at the end, and where a list or a dictionary ends. */
  value(depth = 0): Value | undefined {
    const source = this.#source;
    if (!this.#mayGoOn()) this.at = source.length;
    for (;;) {
      this.#match(BLANK);
      if (this.at >= source.length || depth > MAX_DEPTH) return undefined;
      const first = source[this.at];
      if (first === "%") {
        this.#match(COMMENT);
        continue;
      }
      if (first === "/") return decodeName(this.#match(NAME)?.[0] ?? "");
      if (first === "(") return this.#characters();
      if (first === "[") return this.#list(depth);
      if (first === "]") return this.#end(1);
      if (first === "<" && source[this.at + 1] === "<") return this.#dict(depth);
      if (first === ">") return this.#end(source[this.at + 1] === ">" ? 2 : 1);
      if (first === "<") {
        const hex = this.#match(HEX)?.[1];
        if (hex !== undefined) return new Characters(latin1(fromHex(hex)));
      }
      const token = this.#match(TOKEN)?.[0];
      if (token !== undefined) return this.#word(token);
      this.at++;
    }
  }

  /** The bytes of a picture within a page's content end with an operator of their own. */
  skipPicture(): void {
    const end = /\sEI(?=\s|$)/g;
    end.lastIndex = this.at;
    this.at = end.exec(this.#source) === null ? this.#source.length : end.lastIndex;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#source);
    if (found === null) return undefined;
    this.at = pattern.lastIndex;
    return found;
  }

  #end(length: number): undefined {
    this.at += length;
    return undefined;
  }

  #word(token: string): Value {
    if (/^[-+.\d]/.test(token)) {
      const number = Number.parseFloat(token.replace(/^[-+]{2,}/, "-"));
      if (/^\d+$/.test(token) && this.#match(REF) !== undefined) return new Ref(number);
      return Number.isNaN(number) ? 0 : number;
    }
    if (token === "true" || token === "false") return token === "true";
    return token === "null" ? null : new Operator(token);
  }

  #list(depth: number): Value[] {
    this.at++;
    const items: Value[] = [];
    for (let item = this.value(depth + 1); item !== undefined; item = this.value(depth + 1))
      if (items.length < MAX_ITEMS) items.push(item);
    return items;
  }

  #dict(depth: number): Dict {
    this.at += 2;
    const dict: Dict = new Map();
    for (let name = this.value(depth + 1); name !== undefined; name = this.value(depth + 1)) {
      if (typeof name !== "string") continue;
      const value = this.value(depth + 1);
      if (value === undefined) break;
      dict.set(name, value);
    }
    return dict;
  }

  #characters(): Characters {
    const source = this.#source;
    const edge = /[()\\]/g;
    const parts: string[] = [];
    let depth = 0;
    let from = this.at + 1;
    edge.lastIndex = this.at;
    for (let found = edge.exec(source); found !== null; found = edge.exec(source)) {
      const place = found.index;
      if (found[0] === "(") depth++;
      else if (found[0] === ")") depth--;
      else {
        if (!this.#mayGoOn()) break;
        const sequence = /\\(?:[0-7]{1,3}|\r\n|[\s\S])/y;
        sequence.lastIndex = place;
        const written = sequence.exec(source)?.[0] ?? "\\";
        parts.push(source.slice(from, place), meaningOf(written.slice(1)));
        from = edge.lastIndex = place + written.length;
      }
      if (depth === 0) {
        parts.push(source.slice(from, place));
        this.at = place + 1;
        return new Characters(parts.join(""));
      }
    }
    this.at = source.length;
    return new Characters("");
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

function meaningOf(written: string): string {
  if (/^[0-7]/.test(written)) return String.fromCharCode(Number.parseInt(written, 8) & 0xff);
  // A line break after a backslash does not count.
  return /^[\r\n]/.test(written) ? "" : (ESCAPES[written] ?? written);
}

const decodeName = (name: string): string =>
  name.includes("#")
    ? name.replace(/#([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : name;

type Filter = (bytes: Uint8Array, most: number, mayGoOn: MayGoOn) => Uint8Array;

function inflate(bytes: Uint8Array, most: number, mayGoOn: MayGoOn): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  const stream = new Inflate((part) => {
    parts.push(part);
    length += part.length;
  });
  try {
    // The first two bytes say how it was packed, which is always the same way.
    for (let at = 2; at < bytes.length && length < most && mayGoOn(CHUNK_STEPS); at += PACKED_CHUNK)
      stream.push(bytes.subarray(at, at + PACKED_CHUNK));
  } catch {
    // A damaged stream is read up to its damage.
  }
  return join(parts, length);
}

const fromHexStream: Filter = (bytes) => fromHex(latin1(bytes));

/** Those that text comes in; the others are for pictures. */
const FILTERS: Readonly<Record<string, Filter>> = {
  "/FlateDecode": inflate,
  "/Fl": inflate,
  "/ASCIIHexDecode": fromHexStream,
  "/AHx": fromHexStream,
  "/ASCII85Decode": fromAscii85,
  "/A85": fromAscii85,
};

function latin1(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192)
    parts.push(String.fromCharCode.apply(null, bytes.subarray(at, at + 8192) as never));
  return parts.join("");
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function fromHex(written: string): Uint8Array {
  const digits = written.replace(/[^\da-f]/gi, "");
  const bytes = new Uint8Array(Math.ceil(digits.length / 2));
  for (let at = 0; at < bytes.length; at++)
    bytes[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2).padEnd(2, "0"), 16);
  return bytes;
}

function fromAscii85(packed: Uint8Array): Uint8Array {
  const digits =
    latin1(packed)
      .split("~")[0]
      ?.replaceAll("z", "!!!!!")
      .replace(/[^!-u]/g, "") ?? "";
  const bytes = new Uint8Array(Math.floor((digits.length * 4) / 5));
  for (let at = 0; at < digits.length; at += 5) {
    const group = digits.slice(at, at + 5).padEnd(5, "u");
    let number = 0;
    for (let digit = 0; digit < 5; digit++) number = number * 85 + group.charCodeAt(digit) - 33;
    for (let byte = 0; byte < 4; byte++) {
      const place = (at / 5) * 4 + byte;
      if (place < bytes.length) bytes[place] = Math.floor(number / 256 ** (3 - byte)) & 0xff;
    }
  }
  return bytes;
}
