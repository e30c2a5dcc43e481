/** Hides secrets in what goes to a model or a channel: known values, and strings whose shape leaves no doubt. */
import type { Mask } from "./mask.ts";

const HIDDEN = "[redacted]";

// A run of letters is a secret if it has an unmistakable beginning and enough of a rest.
const SHAPES: readonly { readonly starts: readonly string[]; readonly rest: string }[] = [
  { starts: ["sk-", "glpat-"], rest: "[A-Za-z0-9_-]{20,}" },
  { starts: ["sk_live_", "rk_live_"], rest: "[A-Za-z0-9]{16,}" },
  { starts: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "hf_"], rest: "[A-Za-z0-9]{30,}" },
  { starts: ["github_pat_"], rest: "[A-Za-z0-9_]{30,}" },
  { starts: ["AKIA", "ASIA"], rest: "[A-Z0-9]{16}(?![A-Za-z0-9])" },
  { starts: ["AIza"], rest: "[A-Za-z0-9_-]{35}" },
  { starts: ["xoxb-", "xoxp-", "xoxa-", "xapp-"], rest: "[A-Za-z0-9-]{20,}" },
  { starts: ["npm_"], rest: "[A-Za-z0-9]{36}" },
  { starts: ["SG."], rest: "[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}" },
];

// A JSON Web Token. Looked for part by part: as a pattern, each of many starts would read to the end of the text.
const TOKEN_START = "eyJ";
const SHAPE_STARTS = SHAPES.flatMap(({ starts }) => starts);
const STARTS = [...SHAPE_STARTS, TOKEN_START];
const DOTTED = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){2,}/g;
const HEADER_START = new RegExp(`(?<![A-Za-z0-9_])${TOKEN_START}`);

const RUN = "[A-Za-z0-9_.-]";
const KEY_BEGIN = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END = /-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/;
const KEY_BLOCK = new RegExp(`${KEY_BEGIN.source}[\\s\\S]*?(?:${KEY_END.source}|$)`, "g");
const SHAPED = new RegExp(
  `(?<![A-Za-z0-9_])(?:${SHAPES.map(({ starts, rest }) => `(?:${starts.join("|")})${rest}`).join("|")})`,
  "g",
);
const TRAILING_RUN = new RegExp(`(?<!${RUN})${RUN}+$`);
// A line that may become the first of a private key.
const TRAILING_DASHES = /-{1,5}(?:(?<=-{5})B[A-Z0-9 ]*-{0,4})?$/;

// Looking for a fixed text is many times faster than a pattern, and most texts have none of these.
export const KEY_START = "-----BEGIN ";

export function hideShapes(text: string): string {
  let safe = text;
  if (safe.includes(KEY_START)) safe = safe.replace(KEY_BLOCK, HIDDEN);
  if (safe.includes(TOKEN_START)) safe = safe.replace(DOTTED, hideTokens);
  return SHAPE_STARTS.some((start) => safe.includes(start)) ? safe.replace(SHAPED, HIDDEN) : safe;
}

function hideTokens(dotted: string): string {
  const parts = dotted.split(".");
  const shown: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const [header = "", payload = "", signature = ""] = parts.slice(at, at + 3);
    const start = header.search(HEADER_START);
    const isToken =
      start >= 0 &&
      header.length - start > 10 &&
      payload.startsWith(TOKEN_START) &&
      payload.length > 10 &&
      signature.length > 15;
    shown.push(isToken ? header.slice(0, start) + HIDDEN : header);
    if (isToken) at += 2;
  }
  return shown.join(".");
}

/** The text without known secret values and without secret-shaped strings. */
export function redact(mask: Mask, text: string): string {
  return hideShapes(mask.hide(text));
}

/** Length of the end of a text that is, or may become, a secret; `before` is the character ahead of the text. */
export function openEnd(text: string, before: string): number {
  return Math.max(openKey(text), openShape(text, before));
}

/** Length of a private key that has begun and not ended, or that may be beginning. */
function openKey(text: string): number {
  const begin = text.lastIndexOf(KEY_START);
  const block = begin === -1 ? "" : text.slice(begin);
  if (!KEY_BEGIN.test(block)) return TRAILING_DASHES.exec(text)?.[0].length ?? 0;
  const end = KEY_END.exec(block);
  if (end === null) return block.length;
  return TRAILING_DASHES.exec(block.slice(end.index + end[0].length))?.[0].length ?? 0;
}

/** Length of a last word that has, or may get, the shape of a secret. */
function openShape(text: string, before: string): number {
  const run = TRAILING_RUN.exec(text)?.[0];
  if (run === undefined) return 0;
  // A run such as "key.sk-…" or "--sk-…" holds a shape further in.
  for (let at = 0; at < run.length; at++) {
    const left = at > 0 ? run[at - 1] : run.length === text.length ? before : "";
    if (left !== undefined && /[A-Za-z0-9_]/.test(left)) continue;
    const rest = run.slice(at);
    if (STARTS.some((start) => rest.startsWith(start) || start.startsWith(rest))) return rest.length;
  }
  return 0;
}
