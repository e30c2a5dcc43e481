/** The text of a file's bytes, in whatever encoding; undefined where they are no text. */

interface Mark {
  readonly bytes: readonly number[];
  readonly encoding: string;
}

const MARKS: readonly Mark[] = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
  { bytes: [0xff, 0xfe], encoding: "utf-16le" },
  { bytes: [0xfe, 0xff], encoding: "utf-16be" },
];

export interface DecodedText {
  readonly text: string;
  /** The bytes are this text in UTF-8 as they are. */
  readonly isPlain: boolean;
}

export function decodeText(data: Uint8Array): DecodedText | undefined {
  const mark = MARKS.find(({ bytes }) => bytes.every((byte, at) => data[at] === byte));
  const text = decode(data, mark?.encoding ?? "utf-8");
  if (text !== undefined) return hasControls(text) ? undefined : { text, isPlain: mark === undefined };
  if (mark !== undefined || accentsIn(data) > MAX_ACCENTS) return undefined;
  const western = new TextDecoder("windows-1252").decode(data);
  return hasControls(western) ? undefined : { text: western, isPlain: false };
}

function decode(data: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}

// Tabs, line and page breaks, and the escapes of coloured logs. No text has others, and nearly every other file has.
const USUAL_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);
const DELETE = 0x7f;

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DELETE || (code < 0x20 && !USUAL_CONTROLS.has(code))) return true;
  }
  return false;
}

// What old programs of the West write: mostly ASCII, with an accent now and then.
const MAX_ACCENTS = 0.3;

function accentsIn(data: Uint8Array): number {
  let accents = 0;
  for (const byte of data) if (byte >= 0x80) accents++;
  return accents / data.byteLength;
}
