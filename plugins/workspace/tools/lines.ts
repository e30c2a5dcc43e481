/** Some lines of a file, found while it streams by: a file of a million lines is never held whole. */

const NEWLINE = 0x0a;

export interface Lines {
  readonly text: string;
  readonly from: number;
  /** The last line that is in the text, wholly or in part. */
  readonly to: number;
  /** Lines that the file has. */
  readonly total: number;
  /** True where the text ends before the lines that were asked for. */
  readonly isCut: boolean;
}

export async function readLines(
  data: AsyncIterable<Uint8Array>,
  { from, to, maxBytes }: { readonly from: number; readonly to: number; readonly maxBytes: number },
): Promise<Lines> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  let isCut = false;
  let line = 1;
  let last = from;
  let isAtStart = true;
  const keep = (piece: Uint8Array) => {
    const room = piece.subarray(0, maxBytes - bytes);
    if (room.byteLength < piece.byteLength) isCut = true;
    if (room.byteLength === 0) return;
    kept.push(room);
    bytes += room.byteLength;
    last = line;
  };
  for await (const chunk of data)
    for (let at = 0; at < chunk.byteLength; ) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? chunk.byteLength : newline + 1;
      if (line >= from && line <= to) keep(chunk.subarray(at, end));
      isAtStart = newline !== -1;
      if (isAtStart) line++;
      at = end;
    }
  // What is cut may end within a character.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(kept), { stream: isCut });
  return { text, from, to: Math.max(from, last), total: isAtStart ? line - 1 : line, isCut };
}
