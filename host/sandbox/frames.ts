/** Frames between the service and a tool's process: Node's own channel trusts the sender and takes any length. */
import { writeSync } from "node:fs";
import type { Socket } from "node:net";

export interface FrameLimits {
  readonly header: number;
  readonly body: number;
}

const PREFIX = 8;

/** The body's parts, one after the other. */
type Body = readonly Uint8Array[];

export function writeFrame(socket: Socket, header: object, body: Body = []): void {
  // One write for what is short, and for all that is sent in one turn: each costs a system call.
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
  for (const part of encode(header, body)) socket.write(part);
}

/** At once, also where the caller goes on computing: waits while the other side has yet to read what came before. */
export function writeFrameNow(descriptor: number, header: object, body: Body = []): void {
  for (const part of encode(header, body))
    for (let at = 0; at < part.byteLength; ) at += writeSync(descriptor, part, at);
}

function encode(header: object, body: Body): readonly Uint8Array[] {
  const text = JSON.stringify(header);
  const textLength = Buffer.byteLength(text);
  const bodyLength = body.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const isShort = bodyLength < 65_536;
  const start = Buffer.allocUnsafe(PREFIX + textLength + (isShort ? bodyLength : 0));
  start.writeUInt32LE(textLength, 0);
  start.writeUInt32LE(bodyLength, 4);
  start.write(text, PREFIX);
  if (!isShort) return [start, ...body];
  let at = PREFIX + textLength;
  for (const part of body) {
    start.set(part, at);
    at += part.byteLength;
  }
  return [start];
}

/** `bytes`: how long the frame is. */
type OnFrame = (header: unknown, body: Uint8Array<ArrayBuffer>, bytes: number) => void;

/** Calls `onFrame` for each frame that arrives. Throws from `push` where the sender breaks the rules. */
export class FrameReader {
  readonly #limits: FrameLimits;
  readonly #onFrame: OnFrame;
  readonly #parse: (header: string) => unknown;
  readonly #prefix = new Uint8Array(PREFIX);
  #target: Uint8Array<ArrayBuffer> = this.#prefix;
  #filled = 0;
  #header: Uint8Array<ArrayBuffer> | undefined;
  #bodyLength = 0;

  /** `parse` reads a header, and may throw. */
  constructor(limits: FrameLimits, onFrame: OnFrame, parse: (header: string) => unknown = JSON.parse) {
    this.#limits = limits;
    this.#onFrame = onFrame;
    this.#parse = parse;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength; ) {
      const part = chunk.subarray(at, at + this.#target.byteLength - this.#filled);
      this.#target.set(part, this.#filled);
      this.#filled += part.byteLength;
      at += part.byteLength;
      while (this.#filled === this.#target.byteLength) this.#advance();
    }
  }

  #advance(): void {
    const full = this.#target;
    this.#filled = 0;
    if (full === this.#prefix) {
      const view = new DataView(full.buffer);
      const headerLength = view.getUint32(0, true);
      this.#bodyLength = view.getUint32(4, true);
      if (headerLength === 0 || headerLength > this.#limits.header || this.#bodyLength > this.#limits.body)
        throw new RangeError(`a frame of ${headerLength} and ${this.#bodyLength} bytes is not allowed`);
      this.#target = new Uint8Array(headerLength);
    } else if (this.#header === undefined && this.#bodyLength > 0) {
      this.#header = full;
      this.#target = new Uint8Array(this.#bodyLength);
    } else {
      const header = this.#header ?? full;
      const body = this.#header === undefined ? new Uint8Array() : full;
      this.#header = undefined;
      this.#target = this.#prefix;
      const text = Buffer.from(header).toString();
      this.#onFrame(this.#parse(text), body, PREFIX + header.byteLength + body.byteLength);
    }
  }
}
