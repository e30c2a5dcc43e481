/** What the codes of a PDF font stand for, and how wide they are. */
import { legacyHookDecode } from "@exodus/bytes/encoding.js";
import {
  Characters,
  type Dict,
  Lexer,
  type MayGoOn,
  Operator,
  type PdfFile,
  type Value,
} from "./pdf-file.ts";

const MAX_CODES = 65_536;
const DEFAULT_WIDTH = 500;

export interface Font {
  /** How many bytes a code has. */
  readonly codeLength: number;
  /** The text of a code; undefined where nobody can know. */
  textOf(code: number): string | undefined;
  /** In thousandths of the font's size. */
  widthOf(code: number): number;
}

export function openFont(file: PdfFile, dict: Dict, mayGoOn: MayGoOn): Font {
  const given = file.unpack(dict.get("/ToUnicode"));
  const map = given === undefined ? undefined : readMap(given, mayGoOn);
  return dict.get("/Subtype") === "/Type0" ? openWide(file, dict, map) : openSimple(file, dict, map);
}

/** One byte for each character. */
function openSimple(file: PdfFile, dict: Dict, map: CodeMap | undefined): Font {
  const encoding = file.resolve(dict.get("/Encoding"));
  const details = encoding instanceof Map ? encoding : undefined;
  const base = details === undefined ? encoding : file.resolve(details.get("/BaseEncoding"));
  const texts: (string | undefined)[] = [...(ENCODINGS[String(base)] ?? STANDARD)];
  let code = 0;
  for (const item of file.list(details?.get("/Differences"))) {
    if (typeof item === "number") code = item;
    else if (typeof item === "string") {
      const text = textOfGlyph(item.slice(1));
      if (code >= 0 && code < 256 && text !== undefined) texts[code] = text;
      code++;
    }
  }
  for (const [at, text] of texts.entries()) if (text !== undefined && text < " ") texts[at] = undefined;
  const first = file.number(dict.get("/FirstChar"), 0);
  const widths = file.list(dict.get("/Widths"));
  const missing = file.number(file.dict(dict.get("/FontDescriptor"))?.get("/MissingWidth"), DEFAULT_WIDTH);
  // Fonts that draw their characters measure them in units of their own.
  const scale =
    dict.get("/Subtype") === "/Type3" ? 1000 * file.number(file.list(dict.get("/FontMatrix"))[0], 0.001) : 1;
  return {
    codeLength: 1,
    textOf: (one) => map?.texts.get(one) ?? texts[one],
    widthOf: (one) => scale * file.number(widths[one - first], missing),
  };
}

/** Codes of several bytes, which name glyphs of the font: what they stand for, only its map says. */
function openWide(file: PdfFile, dict: Dict, map: CodeMap | undefined): Font {
  const encoding = String(file.resolve(dict.get("/Encoding")));
  const isUnicode = /^\/Uni.*-(UCS2|UTF16)/.test(encoding);
  const descendant = file.dict(file.list(dict.get("/DescendantFonts"))[0]);
  const usual = file.number(descendant?.get("/DW"), 1000);
  const widths = readWidths(file, file.list(descendant?.get("/W")));
  return {
    codeLength: map?.codeLength ?? 2,
    textOf: (code) => map?.texts.get(code) ?? (isUnicode ? String.fromCharCode(code) : undefined),
    widthOf: (code) => widths.get(code) ?? usual,
  };
}

/** "1 [500 600]" for codes from 1 on, "7 9 500" for all from 7 to 9. */
function readWidths(file: PdfFile, items: readonly Value[]): Map<number, number> {
  const widths = new Map<number, number>();
  for (let at = 0; at < items.length; at++) {
    const first = file.number(items[at], 0);
    const next = file.resolve(items[++at]);
    if (Array.isArray(next)) {
      for (const [place, width] of next.entries())
        if (widths.size < MAX_CODES) widths.set(first + place, file.number(width, DEFAULT_WIDTH));
    } else {
      const width = file.number(items[++at], DEFAULT_WIDTH);
      for (let code = first; code <= Number(next) && widths.size < MAX_CODES; code++) widths.set(code, width);
    }
  }
  return widths;
}

interface CodeMap {
  readonly codeLength: number;
  readonly texts: ReadonlyMap<number, string>;
}

function readMap(source: string, mayGoOn: MayGoOn): CodeMap {
  const lexer = new Lexer(source, mayGoOn);
  const texts = new Map<number, string>();
  let codeLength = 1;
  let operands: Value[] = [];
  let entries = 0;
  const set = (code: number, text: string) => {
    if (entries++ < MAX_CODES) texts.set(code, text);
  };
  const codeAt = (at: number) => {
    const value = operands[at];
    if (!(value instanceof Characters)) return -1;
    codeLength = Math.min(4, Math.max(codeLength, value.bytes.length));
    return numberOf(value.bytes);
  };
  while (lexer.at < source.length) {
    const value = lexer.value();
    if (!(value instanceof Operator)) {
      if (value !== undefined) operands.push(value);
      continue;
    }
    if (value.name === "endbfchar")
      for (let at = 0; at + 1 < operands.length; at += 2) {
        const text = operands[at + 1];
        if (text instanceof Characters) set(codeAt(at), wide(text.bytes));
      }
    if (value.name === "endbfrange")
      for (let at = 0; at + 2 < operands.length; at += 3) {
        const [from, to, target] = [codeAt(at), codeAt(at + 1), operands[at + 2]];
        if (Array.isArray(target))
          for (const [place, text] of target.entries())
            if (text instanceof Characters) set(from + place, wide(text.bytes));
        if (!(target instanceof Characters)) continue;
        const first = wide(target.bytes);
        const last = first.codePointAt(first.length - 1) ?? 0;
        for (let code = from; code <= to && entries < MAX_CODES; code++)
          set(code, first.slice(0, -1) + String.fromCodePoint(last + code - from));
      }
    if (value.name === "endcodespacerange") codeAt(0);
    operands = [];
  }
  return { codeLength, texts };
}

export function numberOf(bytes: string): number {
  let number = 0;
  for (let at = 0; at < bytes.length && at < 4; at++) number = number * 256 + bytes.charCodeAt(at);
  return number;
}

/** UTF-16, the higher byte first. */
export function wide(bytes: string): string {
  let text = "";
  for (let at = 0; at + 1 < bytes.length; at += 2)
    text += String.fromCharCode(bytes.charCodeAt(at) * 256 + bytes.charCodeAt(at + 1));
  return bytes.length === 1 ? bytes : text;
}

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, at) => at);

const WINDOWS = [...legacyHookDecode(ALL_BYTES, "windows-1252")];
/** No character stands at a zero. */
const STANDARD = [
  ...WINDOWS.slice(0, 161),
  ..."¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—",
  ..."\0".repeat(16),
  ..."Æ\0ª\0\0\0\0ŁØŒº\0\0\0\0\0æ\0\0\0ı\0\0łøœß\0\0\0\0",
];
STANDARD[0x27] = "’";
STANDARD[0x60] = "‘";

const ENCODINGS: Readonly<Record<string, readonly string[]>> = {
  "/WinAnsiEncoding": WINDOWS,
  "/MacRomanEncoding": [...legacyHookDecode(ALL_BYTES, "macintosh")],
};

/** Names of characters as fonts have them: those that are no letter with an accent, which are put together. */
const GLYPHS = new Map(
  (
    "space   exclam ! quotedbl \" numbersign # dollar $ percent % ampersand & quotesingle ' quoteright ’ quoteleft ‘ parenleft ( " +
    "parenright ) asterisk * plus + comma , hyphen - minus − period . slash / colon : semicolon ; less < equal = " +
    "greater > question ? at @ bracketleft [ backslash \\ bracketright ] asciicircum ^ underscore _ grave ` braceleft { " +
    "bar | braceright } asciitilde ~ zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 exclamdown ¡ " +
    "cent ¢ sterling £ currency ¤ yen ¥ Euro € brokenbar ¦ section § dieresis ¨ copyright © ordfeminine ª guillemotleft « " +
    "logicalnot ¬ registered ® macron ¯ degree ° plusminus ± acute ´ mu µ paragraph ¶ periodcentered · cedilla ¸ " +
    "ordmasculine º guillemotright » onequarter ¼ onehalf ½ threequarters ¾ questiondown ¿ AE Æ ae æ OE Œ oe œ Eth Ð eth ð " +
    "Thorn Þ thorn þ germandbls ß multiply × divide ÷ Oslash Ø oslash ø Lslash Ł lslash ł Dcroat Đ dcroat đ dotlessi ı " +
    "florin ƒ circumflex ˆ tilde ˜ caron ˇ breve ˘ ring ˚ ogonek ˛ endash – emdash — quotesinglbase ‚ quotedblleft “ " +
    "quotedblright ” quotedblbase „ dagger † daggerdbl ‡ bullet • ellipsis … perthousand ‰ guilsinglleft ‹ " +
    "guilsinglright › fraction ⁄ trademark ™ nbspace \u00a0 sfthyphen \u00ad " +
    "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ " +
    "sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω " +
    "lessequal ≤ greaterequal ≥ notequal ≠ infinity ∞ partialdiff ∂ summation ∑ product ∏ radical √ integral ∫ approxequal ≈ " +
    "arrowright → arrowleft ← element ∈ asteriskmath ∗ similar ∼ equivalence ≡"
  )
    .match(/\w+ ./gsu)
    ?.map((entry) => [entry.slice(0, entry.indexOf(" ")), entry.slice(entry.indexOf(" ") + 1)]),
);
for (const ligature of ["ff", "fi", "fl", "ffi", "ffl"]) GLYPHS.set(ligature, ligature);

const ACCENTS: Readonly<Record<string, string>> = {
  grave: "\u0300",
  acute: "\u0301",
  circumflex: "\u0302",
  tilde: "\u0303",
  macron: "\u0304",
  breve: "\u0306",
  dotaccent: "\u0307",
  dieresis: "\u0308",
  ring: "\u030a",
  hungarumlaut: "\u030b",
  caron: "\u030c",
  commaaccent: "\u0326",
  cedilla: "\u0327",
  ogonek: "\u0328",
};

function textOfGlyph(glyph: string): string | undefined {
  const [name = ""] = glyph.split(".");
  if (name.length === 1) return name;
  const known = GLYPHS.get(name);
  if (known !== undefined) return known;
  const [, code] = /^u(?:ni)?([\dA-F]{4,6})$/.exec(name) ?? [];
  if (code !== undefined) {
    const point = Number.parseInt(code.length === 6 && glyph.startsWith("uni") ? code.slice(0, 4) : code, 16);
    return point > 0x10ffff ? undefined : String.fromCodePoint(point);
  }
  const [, letter = "", accent = ""] = /^([A-Za-z])([a-z]+)$/.exec(name) ?? [];
  if (ACCENTS[accent] !== undefined) return (letter + ACCENTS[accent]).normalize("NFC");
  const parts = name.includes("_") ? name.split("_").slice(0, 4).map(textOfGlyph) : [];
  return parts.length > 1 && parts.every((part) => part !== undefined) ? parts.join("") : undefined;
}
