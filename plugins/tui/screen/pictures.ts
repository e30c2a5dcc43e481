/**
 * Pictures of the workspace in terminals with kitty's graphics protocol. The terminal gets the bytes once, under a number; a picture is then
 * text in cells that stand for its parts, so that it scrolls, is cut and goes as any line does. A stranger wrote the bytes: only a PNG of
 * bounded size is passed on, as base64, in which nothing can end the sequence.
 */
import { randomInt } from "node:crypto";
import { imageProblem, sniffImage } from "../../../kernel/kit/files.ts";
import type { TerminalFiles } from "../services.ts";

export type Pictures = ReturnType<typeof createPictures>;

interface Shown {
  readonly number: number;
  readonly columns: number;
  readonly rows: number;
}

const MAX_FILE_BYTES = 2_000_000;
const MAX_PICTURES = 40;
const MAX_COLUMNS = 60;
const MAX_ROWS = 16;
/** A cell is about twice as high as it is wide. */
const CELL = { width: 10, height: 20 };
/** What one sequence may carry. */
const PIECE_LENGTH = 4096;

const START = "\u001b_G";
const END = "\u001b\\";
const PART = "\u{10EEEE}";
/** The first is for row 0, and column 0. Cells to the right of one go on in its row. */
const ROWS = [
  ...String.fromCodePoint(
    ...[
      0x305, 0x30d, 0x30e, 0x310, 0x312, 0x33d, 0x33e, 0x33f, 0x346, 0x34a, 0x34b, 0x34c, 0x350, 0x351, 0x352,
      0x357,
    ],
  ),
];

/** True for terminals that are known to show pictures in this way; a multiplexer gives its own name. */
export function showsPictures(terminal: string): boolean {
  const [, name, major = 0, minor = 0] = /^(kitty|ghostty)[ (](\d+)\.(\d+)/.exec(terminal) ?? [];
  return name === "ghostty" || (name === "kitty" && (Number(major) > 0 || Number(minor) >= 28));
}

export interface PictureParts {
  readonly files: Pick<TerminalFiles, "read" | "draw"> | undefined;
  write(text: string): void;
  changed(): void;
}

export function createPictures({ files, write, changed }: PictureParts) {
  /** By key; undefined for one that is being read, or cannot be shown. */
  const known = new Map<string, Shown | undefined>();
  let next = randomInt(0x10000, 0xf00000);
  let isOn = false;

  async function load(key: string, path: string): Promise<void> {
    known.set(key, undefined);
    const read = await files?.read(path, MAX_FILE_BYTES + 1).catch(() => undefined);
    const png = read && (await pngOf(read.data));
    if (png === undefined) return;
    const shown = { number: next++, ...sizeOf(png) };
    for (const sequence of sequencesOf(png, shown)) write(sequence);
    known.set(key, shown);
    changed();
  }

  async function pngOf(data: Uint8Array): Promise<Buffer | undefined> {
    if (data.byteLength > MAX_FILE_BYTES) return undefined;
    const drawn = sniffImage(data)
      ? data
      : await files?.draw?.(Buffer.from(data).toString()).catch(() => undefined);
    const isShown =
      drawn &&
      drawn.byteLength <= MAX_FILE_BYTES &&
      sniffImage(drawn) === "image/png" &&
      drawn.byteLength > 24;
    return isShown && !imageProblem(drawn) ? Buffer.from(drawn) : undefined;
  }

  return {
    /** The terminal has said that it can. */
    turnOn(): void {
      isOn = true;
      changed();
    },
    /** The rows of cells of the picture in this file, which is read once for each key; none while it is being read, or cannot be shown. */
    linesOf(key: string, path: string, width: number): readonly string[] {
      if (!isOn) return [];
      if (!known.has(key) && known.size < MAX_PICTURES) void load(key, path);
      const shown = known.get(key);
      return shown === undefined || shown.columns > width ? [] : cellsOf(shown);
    },
    /** The terminal need not keep them. */
    close(): void {
      for (const shown of known.values()) if (shown) write(`${START}a=d,d=I,q=2,i=${shown.number}${END}`);
    },
  };
}

function sizeOf(png: Buffer): Pick<Shown, "columns" | "rows"> {
  const [width, height] = [Math.max(1, png.readUInt32BE(16)), Math.max(1, png.readUInt32BE(20))];
  const scale = Math.min(1, (MAX_COLUMNS * CELL.width) / width, (MAX_ROWS * CELL.height) / height);
  const cells = (length: number, of: number) => Math.max(1, Math.round((length * scale) / of));
  return { columns: cells(width, CELL.width), rows: cells(height, CELL.height) };
}

function sequencesOf(png: Buffer, { number, columns, rows }: Shown): readonly string[] {
  const pieces = png.toString("base64").match(new RegExp(`.{1,${PIECE_LENGTH}}`, "g")) ?? [];
  return pieces.map((piece, at) => {
    const head = at === 0 ? `a=T,U=1,q=2,f=100,i=${number},c=${columns},r=${rows},` : "q=2,";
    return `${START}${head}m=${at === pieces.length - 1 ? 0 : 1};${piece}${END}`;
  });
}

/** The colour of the text says which picture it is. */
function cellsOf({ number, columns, rows }: Shown): readonly string[] {
  const colour = `\u001b[38;2;${number >> 16};${(number >> 8) & 255};${number & 255}m`;
  return ROWS.slice(0, rows).map(
    (row) => `${colour}${PART}${row}${ROWS[0]}${PART.repeat(columns - 1)}\u001b[39m`,
  );
}
