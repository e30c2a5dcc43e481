/** A picture of pixels: shapes are filled with smooth edges, and it becomes a PNG file. */
import { crc32, deflateSync } from "node:zlib";
import type { Point } from "./font.ts";

export type Colour = readonly [red: number, green: number, blue: number];

export interface Canvas {
  /** Fills closed lines. What several of them cover is covered once where they run in the same direction, and a hole where not. */
  fill(outlines: readonly (readonly Point[])[], colour: Colour, opacity: number): void;
  png(): Uint8Array;
}

export function createCanvas(width: number, height: number): Canvas {
  const pixels = new Uint8Array(width * height * 3).fill(255);
  return {
    fill(outlines, colour, opacity) {
      const points = outlines.flat();
      const left = clamp(Math.floor(least(points, 0)), width);
      const top = clamp(Math.floor(least(points, 1)), height);
      const right = clamp(Math.ceil(-least(points, 0, -1)) + 1, width);
      const bottom = clamp(Math.ceil(-least(points, 1, -1)) + 1, height);
      const across = right - left;
      if (points.length === 0 || across <= 0 || bottom <= top) return;
      const changes = changesOf(outlines, { left, top, across, down: bottom - top });
      for (let y = 0; y < bottom - top; y++) {
        let covered = 0;
        for (let x = 0; x < across; x++) {
          covered += changes[y * (across + 2) + x] ?? 0;
          const share = Math.min(1, Math.abs(covered)) * opacity;
          if (share < 0.004) continue;
          const at = ((top + y) * width + left + x) * 3;
          for (let part = 0; part < 3; part++)
            pixels[at + part] = Math.round(
              (pixels[at + part] ?? 0) * (1 - share) + (colour[part] ?? 0) * share,
            );
        }
      }
    },
    png() {
      // Each row begins with its filter, which is none.
      const rows = Buffer.alloc(height * (width * 3 + 1));
      for (let y = 0; y < height; y++)
        rows.set(pixels.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1) + 1);
      const header = Buffer.alloc(13);
      header.writeUInt32BE(width, 0);
      header.writeUInt32BE(height, 4);
      // Eight bits for each of red, green and blue.
      header.set([8, 2], 8);
      return Buffer.concat([
        Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
        chunk("IHDR", header),
        chunk("IDAT", deflateSync(rows)),
        chunk("IEND", Buffer.alloc(0)),
      ]);
    },
  };
}

const clamp = (value: number, most: number): number => Math.min(most, Math.max(0, value));

function least(points: readonly Point[], part: 0 | 1, sign = 1): number {
  return points.reduce((found, point) => Math.min(found, sign * point[part]), Number.POSITIVE_INFINITY);
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly across: number;
  readonly down: number;
}

/** For each pixel of a row, how much more of it is covered than of the one before it. */
function changesOf(outlines: readonly (readonly Point[])[], { left, top, across, down }: Box): Float32Array {
  const row = across + 2;
  const changes = new Float32Array(row * down);
  const add = (at: number, value: number) => {
    changes[at] = (changes[at] ?? 0) + value;
  };
  const edge = ([fromX, fromY]: Point, [toX, toY]: Point): void => {
    if (fromY === toY) return;
    const isDown = fromY < toY;
    const [x0, y0, x1, y1] = isDown ? [fromX, fromY, toX, toY] : [toX, toY, fromX, fromY];
    const slope = (x1 - x0) / (y1 - y0);
    for (let y = Math.max(0, Math.floor(y0)); y < Math.min(down, Math.ceil(y1)); y++) {
      const [start, end] = [Math.max(y, y0), Math.min(y + 1, y1)];
      const part = (end - start) * (isDown ? 1 : -1);
      const xs = [x0 + (start - y0) * slope, x0 + (end - y0) * slope].map((x) => clamp(x, across));
      const [near, far] = [Math.min(...xs), Math.max(...xs)];
      let before = 0;
      for (let x = Math.floor(near); x <= Math.max(Math.floor(near) + 1, Math.ceil(far)); x++) {
        const area = coverage(x, near, far);
        add(y * row + x, part * (area - before));
        before = area;
      }
    }
  };
  for (const outline of outlines)
    for (const [at, [x, y]] of outline.entries()) {
      const [nextX, nextY] = outline[(at + 1) % outline.length] as Point;
      edge([x - left, y - top], [nextX - left, nextY - top]);
    }
  return changes;
}

/** How much of the pixel at `x` lies right of an edge that goes from `near` to `far` while it crosses the row. */
function coverage(x: number, near: number, far: number): number {
  if (far - near < 1e-6) return clamp(x + 1 - near, 1);
  const upTo = (t: number) => (t <= 0 ? 0 : t < 1 ? t ** 2 / 2 : t - 0.5);
  return (upTo(x + 1 - near) - upTo(x + 1 - far)) / (far - near);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}
