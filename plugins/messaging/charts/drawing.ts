/**
 * Draws a chart as a picture. Only what the charts of run-code are made of is known: rectangles, lines, circles, paths of straight lines
 * and arcs, and words. Anything else is no chart of ours, and is not drawn.
 */
import { type Canvas, type Colour, createCanvas } from "./canvas.ts";
import type { Letter, Point } from "./font.ts";

const MAX_LENGTH = 2 ** 20;
const MAX_SIDE = 2000;
/** Sharp on the screens of telephones. */
const SCALE = 2;
const MAX_PICTURE_SIDE = 2400;
const ROUND_STEPS = 24;
/** The cosine of a bend whose gap nobody sees. */
const STRAIGHT = 0.95;
const PART = /<(\/?)([a-z]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y;

type Attributes = ReadonlyMap<string, string>;

/** From the coordinates of an element to those of the picture. */
type Place = (point: Point) => Point;

interface Element {
  readonly name: string;
  readonly attributes: Attributes;
  readonly place: Place;
  words: string;
}

/** Undefined for what is no chart of ours, or has letters that the font lacks. */
export function drawChart(
  svg: string,
  letterOf: (letter: string) => Letter | undefined,
): Uint8Array | undefined {
  if (svg.length > MAX_LENGTH) return undefined;
  const open: Element[] = [];
  let canvas: Canvas | undefined;
  let scale = 1;
  PART.lastIndex = 0;
  for (let at = 0; at < svg.length; at = PART.lastIndex) {
    const [whole, closing, name = "", given = "", isEmpty, words] = PART.exec(svg) ?? [];
    if (whole === undefined) return undefined;
    if (words !== undefined) {
      const [inner] = open.slice(-1);
      if (inner) inner.words += words;
      continue;
    }
    if (closing === "") {
      const attributes = new Map(
        [...given.matchAll(/(?<![\w-])([\w-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]),
      );
      const around = open.at(-1)?.place ?? (([x, y]: Point) => [x * scale, y * scale] as const);
      if (canvas === undefined) {
        const [width, height] = ["width", "height"].map((side) => Number(attributes.get(side)));
        if (name !== "svg" || !isSide(width) || !isSide(height)) return undefined;
        scale = Math.min(SCALE, MAX_PICTURE_SIDE / Math.max(width, height));
        canvas = createCanvas(Math.round(width * scale), Math.round(height * scale));
      }
      const moved = name === "g" ? placeOf(attributes.get("transform") ?? "", around) : around;
      if (moved === undefined) return undefined;
      open.push({ name, attributes, place: moved, words: "" });
    }
    if (closing === "/" || isEmpty === "/") {
      const element = open.pop();
      if (canvas === undefined || element?.name !== name) return undefined;
      if (!draw(element, open[0]?.attributes ?? element.attributes, canvas, letterOf)) return undefined;
    }
  }
  return open.length === 0 ? canvas?.png() : undefined;
}

const isSide = (side: number | undefined): side is number =>
  side !== undefined && side >= 1 && side <= MAX_SIDE;

/** `translate(x y)`, `rotate(degrees)`, or one after the other. */
function placeOf(transform: string, around: Place): Place | undefined {
  let place = around;
  for (const [, step, inside = ""] of transform.matchAll(/(?<![a-z])([a-z]+)\(([^()]*)\)/g)) {
    const [first = 0, second = 0] = inside.split(/[\s,]+/).map(Number);
    const before = place;
    const turn = (first * Math.PI) / 180;
    if (step === "translate") place = ([x, y]) => before([x + first, y + second]);
    else if (step === "rotate")
      place = ([x, y]) =>
        before([x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn)]);
    else return undefined;
  }
  return place;
}

function draw(
  { name, attributes, place, words }: Element,
  root: Attributes,
  canvas: Canvas,
  letterOf: (letter: string) => Letter | undefined,
): boolean {
  const number = (key: string, byDefault = 0) => Number(attributes.get(key) ?? byDefault);
  const fill = (
    outlines: readonly (readonly Point[])[],
    colour = attributes.get("fill") ?? root.get("fill") ?? "",
  ) => {
    const opacity = number("fill-opacity", 1);
    if (colour !== "none")
      canvas.fill(
        outlines.map((line) => line.map(place)),
        colourOf(colour),
        opacity,
      );
  };
  const stroke = (lines: readonly (readonly Point[])[]) => {
    const colour = attributes.get("stroke");
    if (colour !== undefined) fill(outlinesOf(lines, number("stroke-width", 1)), colour);
  };
  switch (name) {
    case "svg":
    case "g":
    case "title":
      return true;
    case "rect": {
      const [x, y, width, height] = ["x", "y", "width", "height"].map((key) => number(key)) as [
        number,
        number,
        number,
        number,
      ];
      fill([
        [
          [x, y],
          [x + width, y],
          [x + width, y + height],
          [x, y + height],
        ],
      ]);
      return true;
    }
    case "circle":
      fill([round([number("cx"), number("cy")], number("r"))]);
      return true;
    case "line":
      stroke([
        [
          [number("x1"), number("y1")],
          [number("x2"), number("y2")],
        ],
      ]);
      return true;
    case "path": {
      const lines = readPath(attributes.get("d") ?? "");
      if (lines === undefined) return false;
      fill(lines);
      stroke(lines);
      return true;
    }
    case "text": {
      const letters = lettersOf(readable(words), letterOf);
      if (letters === undefined) return false;
      const size = number("font-size", Number(root.get("font-size") ?? 12));
      const width = letters.reduce((sum, letter) => sum + letter.width, 0) * size;
      const share = { middle: 0.5, end: 1 }[attributes.get("text-anchor") ?? ""] ?? 0;
      let left = number("x") - width * share;
      const outlines: (readonly Point[])[] = [];
      for (const letter of letters) {
        const start = left;
        for (const line of letter.outlines)
          outlines.push(line.map(([x, y]) => [start + x * size, number("y") - y * size] as const));
        left += letter.width * size;
      }
      fill(outlines);
      return true;
    }
    default:
      return false;
  }
}

function lettersOf(
  words: string,
  letterOf: (letter: string) => Letter | undefined,
): readonly Letter[] | undefined {
  const letters = [...words].map(letterOf);
  return letters.every((letter) => letter !== undefined) ? letters : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };
const readable = (words: string) =>
  words.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] ?? entity);

function colourOf(text: string): Colour {
  const [, hex = "000000"] = /^#([0-9a-f]{3}|[0-9a-f]{6})$/.exec(text) ?? [];
  const whole = hex.length === 3 ? hex.replace(/./g, "$&$&") : hex;
  return [0, 2, 4].map((at) => Number.parseInt(whole.slice(at, at + 2), 16)) as [number, number, number];
}

function round([x, y]: Point, radius: number): readonly Point[] {
  return Array.from({ length: ROUND_STEPS }, (_, step) => {
    const turn = (step / ROUND_STEPS) * 2 * Math.PI;
    return [x + radius * Math.cos(turn), y + radius * Math.sin(turn)] as const;
  });
}

/** A line with a width, as what it covers: each piece, and the joints at bends. All run in the same direction. */
function outlinesOf(lines: readonly (readonly Point[])[], width: number): readonly (readonly Point[])[] {
  return lines.flatMap((line) =>
    line.flatMap(([x, y], at) => {
      const [toX, toY] = line[at + 1] ?? [x, y];
      const length = Math.hypot(toX - x, toY - y);
      if (length === 0) return [];
      const [dx, dy] = [((toY - y) / length) * (width / 2), ((x - toX) / length) * (width / 2)];
      const piece: readonly Point[] = [
        [x + dx, y + dy],
        [toX + dx, toY + dy],
        [toX - dx, toY - dy],
        [x - dx, y - dy],
      ];
      const [beforeX, beforeY] = line[at - 1] ?? [x, y];
      const towards = (x - beforeX) * (toX - x) + (y - beforeY) * (toY - y);
      const isBent = at > 0 && towards < STRAIGHT * length * Math.hypot(x - beforeX, y - beforeY);
      return isBent ? [piece, round([x, y], width / 2)] : [piece];
    }),
  );
}

const STEP = /([MLAZ])([^A-Za-z]*)/y;

/** Moves, straight lines, arcs of circles and ends. */
function readPath(path: string): readonly (readonly Point[])[] | undefined {
  const lines: Point[][] = [];
  STEP.lastIndex = 0;
  for (let at = 0; at < path.length; at = STEP.lastIndex) {
    const [whole, step, inside = ""] = STEP.exec(path) ?? [];
    if (whole === undefined) return undefined;
    const numbers = inside.match(/-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?/g)?.map(Number) ?? [];
    const line = lines.at(-1);
    if (step === "Z") {
      const [start] = line ?? [];
      if (start) line?.push(start);
    } else if (step === "M") lines.push(pairs(numbers));
    else if (line === undefined) return undefined;
    else if (step === "L") line.push(...pairs(numbers));
    else {
      const [radius = 0, , , isLarge, isClockwise, x = 0, y = 0] = numbers;
      line.push(...arc(line.at(-1) ?? [0, 0], [x, y], radius, isLarge === 1, isClockwise === 1));
    }
  }
  return lines;
}

const pairs = (numbers: readonly number[]): Point[] =>
  numbers.flatMap((x, at) => (at % 2 === 0 ? [[x, numbers[at + 1] ?? 0] as const] : []));

/** The points of an arc of a circle that ends at `to`. */
function arc(
  [x0, y0]: Point,
  [x1, y1]: Point,
  radius: number,
  isLarge: boolean,
  isClockwise: boolean,
): Point[] {
  const [halfX, halfY] = [(x1 - x0) / 2, (y1 - y0) / 2];
  const half = Math.hypot(halfX, halfY);
  if (half === 0) return [];
  const size = Math.max(radius, half);
  const away = (Math.sqrt(size ** 2 - half ** 2) / half) * (isLarge === isClockwise ? -1 : 1);
  const [x, y] = [x0 + halfX - halfY * away, y0 + halfY + halfX * away];
  const from = Math.atan2(y0 - y, x0 - x);
  let turn = Math.atan2(y1 - y, x1 - x) - from;
  if (isClockwise && turn < 0) turn += 2 * Math.PI;
  if (!isClockwise && turn > 0) turn -= 2 * Math.PI;
  const steps = Math.max(2, Math.ceil(Math.abs(turn) * ROUND_STEPS));
  return Array.from({ length: steps }, (_, step) => {
    const angle = from + (turn * (step + 1)) / steps;
    return [x + size * Math.cos(angle), y + size * Math.sin(angle)] as const;
  });
}
