/** The text that a page of a PDF draws, in the order in which it draws it. */
import {
  Characters,
  type Dict,
  Lexer,
  type MayGoOn,
  Operator,
  type PdfFile,
  Stream,
  type Value,
} from "./pdf-file.ts";
import { type Font, numberOf, openFont } from "./pdf-font.ts";

const MAX_FORMS = 8;
const MAX_OPERANDS = 1_000;
const MAX_SAVED = 100;
/** In heights of a character: a gap on the line that is a blank, a step that is another line, one that is another paragraph. */
const BLANK_GAP = 0.17;
const LINE_STEP = 0.5;
const PARAGRAPH_STEP = 1.75;

type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

const multiply = ([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix => [
  a * g + b * i,
  a * h + b * j,
  c * g + d * i,
  c * h + d * j,
  e * g + f * i + k,
  e * h + f * j + l,
];

interface State {
  place: Matrix;
  font: Font | undefined;
  size: number;
  characterGap: number;
  wordGap: number;
  /** A factor for the width of the letters. */
  stretch: number;
  leading: number;
}

/** Reads the pages of one file, whose fonts it keeps. */
export class PageReader {
  readonly #file: PdfFile;
  readonly #fonts = new Map<Dict, Font>();
  readonly #mayGoOn: MayGoOn;
  #written: string[] = [];
  #isAfterBlank = true;
  #state: State = first();
  #text = IDENTITY;
  #line = IDENTITY;
  /** Where the last character ended, how high it was, and which way it went. */
  #end: End | undefined;
  /** Characters that were drawn, and those of which nobody can know what they stand for. */
  drawn = 0;
  unknown = 0;

  constructor(file: PdfFile, mayGoOn: MayGoOn) {
    this.#file = file;
    this.#mayGoOn = mayGoOn;
  }

  read(contents: readonly Value[], resources: Dict | undefined): string {
    this.#written = [];
    this.#isAfterBlank = true;
    this.#end = undefined;
    this.#state = first();
    const parts = contents.map((content) => this.#file.unpack(content) ?? "");
    this.#run(parts.join("\n"), resources, 0);
    return (
      this.#written
        .join("")
        .replace(/[ﬀ-ﬆ]/g, (ligature) => ligature.normalize("NFKC"))
        // In a table of contents, dots lead to the number of the page.
        .replace(/(?: ?[.:·]){6,}/g, " … ")
        .replace(/ +\n/g, "\n")
        .trim()
    );
  }

  #run(source: string, resources: Dict | undefined, depth: number): void {
    const lexer = new Lexer(source, this.#mayGoOn);
    const saved: State[] = [];
    let operands: Value[] = [];
    while (lexer.at < source.length) {
      const value = lexer.value();
      if (value instanceof Operator) {
        if (value.name === "ID") lexer.skipPicture();
        else if (value.name === "q" && saved.length < MAX_SAVED) saved.push({ ...this.#state });
        else if (value.name === "Q") this.#state = saved.pop() ?? this.#state;
        else this.#operate(value.name, operands, resources, depth);
        operands = [];
      } else if (value !== undefined && operands.length < MAX_OPERANDS) operands.push(value);
    }
  }

  #operate(name: string, operands: readonly Value[], resources: Dict | undefined, depth: number): void {
    const state = this.#state;
    const number = (at: number) => (typeof operands[at] === "number" ? operands[at] : 0);
    switch (name) {
      case "BT":
        this.#line = this.#text = IDENTITY;
        break;
      case "Tf":
        state.font = this.#font(operands[0], resources);
        state.size = number(1);
        break;
      case "Tc":
        state.characterGap = number(0);
        break;
      case "Tw":
        state.wordGap = number(0);
        break;
      case "Tz":
        state.stretch = number(0) / 100;
        break;
      case "TL":
        state.leading = number(0);
        break;
      case "Td":
        this.#move(number(0), number(1));
        break;
      case "TD":
        state.leading = -number(1);
        this.#move(number(0), number(1));
        break;
      case "Tm":
        this.#line = this.#text = matrixOf(operands);
        break;
      case "T*":
        this.#move(0, -state.leading);
        break;
      case "Tj":
        this.#show(operands[0]);
        break;
      case "'":
        this.#move(0, -state.leading);
        this.#show(operands[0]);
        break;
      case '"':
        state.wordGap = number(0);
        state.characterGap = number(1);
        this.#move(0, -state.leading);
        this.#show(operands[2]);
        break;
      case "TJ":
        for (const item of Array.isArray(operands[0]) ? operands[0] : [])
          if (typeof item === "number") this.#advance((-item / 1000) * state.size * state.stretch);
          else this.#show(item);
        break;
      case "cm":
        state.place = multiply(matrixOf(operands), state.place);
        break;
      case "Do":
        this.#draw(operands[0], resources, depth);
        break;
    }
  }

  #move(x: number, y: number): void {
    this.#line = this.#text = multiply([1, 0, 0, 1, x, y], this.#line);
  }

  #advance(x: number): void {
    const [a, b, c, d, e, f] = this.#text;
    this.#text = [a, b, c, d, e + x * a, f + x * b];
  }

  #font(name: Value | undefined, resources: Dict | undefined): Font | undefined {
    const dict = this.#file.dict(this.#file.dict(resources?.get("/Font"))?.get(String(name)));
    if (dict === undefined) return undefined;
    let font = this.#fonts.get(dict);
    if (font === undefined) {
      font = openFont(this.#file, dict, this.#mayGoOn);
      this.#fonts.set(dict, font);
    }
    return font;
  }

  /** A form is a part of a page that is kept beside it. */
  #draw(name: Value | undefined, resources: Dict | undefined, depth: number): void {
    const form = this.#file.resolve(this.#file.dict(resources?.get("/XObject"))?.get(String(name)));
    if (!(form instanceof Stream) || form.dict.get("/Subtype") !== "/Form" || depth >= MAX_FORMS) return;
    const source = this.#file.unpack(form);
    if (source === undefined) return;
    const before = this.#state;
    const [text, line] = [this.#text, this.#line];
    const matrix = this.#file.list(form.dict.get("/Matrix"));
    this.#state = {
      ...before,
      place: multiply(matrix.length === 6 ? matrixOf(matrix) : IDENTITY, before.place),
    };
    this.#run(source, this.#file.dict(form.dict.get("/Resources")) ?? resources, depth + 1);
    this.#state = before;
    this.#text = text;
    this.#line = line;
  }

  #show(value: Value | undefined): void {
    const { font, size, stretch, characterGap, wordGap, place } = this.#state;
    if (!(value instanceof Characters) || font === undefined) return;
    const { bytes } = value;
    const { codeLength } = font;
    let text = "";
    let width = 0;
    for (let at = 0; at < bytes.length; at += codeLength) {
      const code = codeLength === 1 ? bytes.charCodeAt(at) : numberOf(bytes.slice(at, at + codeLength));
      const meant = font.textOf(code);
      this.drawn++;
      if (meant === undefined) this.unknown++;
      else text += meant;
      width += (font.widthOf(code) / 1000) * size + characterGap;
      if (codeLength === 1 && code === 32) width += wordGap;
    }
    const matrix = multiply(this.#text, place);
    const height = Math.abs(size) * Math.hypot(matrix[2], matrix[3]) || 1;
    this.#write(text, matrix, height);
    this.#advance(width * stretch);
    const [, , , , x, y] = multiply(this.#text, place);
    const length = Math.hypot(matrix[0], matrix[1]) || 1;
    this.#end = { x, y, height, along: matrix[0] / length, across: matrix[1] / length };
  }

  #write(text: string, [, , , , x, y]: Matrix, height: number): void {
    if (text === "") return;
    const gap = this.#end === undefined ? "" : gapBetween(this.#end, x, y, height);
    const isBlank = /^\s/.test(text);
    if (gap !== "" && !(gap === " " && (this.#isAfterBlank || isBlank))) this.#written.push(gap);
    this.#written.push(text);
    this.#isAfterBlank = /\s$/.test(text);
  }
}

interface End {
  readonly x: number;
  readonly y: number;
  readonly height: number;
  readonly along: number;
  readonly across: number;
}

/** What stands between the last character and one at this place. */
function gapBetween(end: End, x: number, y: number, height: number): string {
  const [dx, dy] = [x - end.x, y - end.y];
  // A small number above the line belongs to it.
  const measure = Math.max(height, end.height);
  const forward = (dx * end.along + dy * end.across) / measure;
  const up = (dy * end.along - dx * end.across) / measure;
  if (Math.abs(up) > LINE_STEP) return up > 0 || -up > PARAGRAPH_STEP ? "\n\n" : "\n";
  return Math.abs(forward) > BLANK_GAP ? " " : "";
}

function first(): State {
  return { place: IDENTITY, font: undefined, size: 1, characterGap: 0, wordGap: 0, stretch: 1, leading: 0 };
}

function matrixOf(values: readonly Value[]): Matrix {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = values.map((value) =>
    typeof value === "number" ? value : 0,
  );
  return [a, b, c, d, e, f];
}
