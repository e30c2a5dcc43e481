/**
 * Hides secrets in what goes to a model or a channel: the values we know, and strings whose shape leaves
 * no doubt. Only values are hidden; ordinary text about passwords, keys or `.ssh` passes untouched.
 */
import type { Mask } from "./mask.ts";
import type { HidingStream } from "./matcher.ts";

const HIDDEN = "[redacted]";

// What makes a run of letters a secret: an unmistakable beginning and enough of a rest.
const SHAPES: readonly { readonly start: string; readonly rest: string }[] = [
  { start: "sk-", rest: "[A-Za-z0-9_-]{20,}" },
  { start: "sk_live_", rest: "[A-Za-z0-9]{16,}" },
  { start: "rk_live_", rest: "[A-Za-z0-9]{16,}" },
  { start: "ghp_", rest: "[A-Za-z0-9]{30,}" },
  { start: "gho_", rest: "[A-Za-z0-9]{30,}" },
  { start: "ghu_", rest: "[A-Za-z0-9]{30,}" },
  { start: "ghs_", rest: "[A-Za-z0-9]{30,}" },
  { start: "ghr_", rest: "[A-Za-z0-9]{30,}" },
  { start: "github_pat_", rest: "[A-Za-z0-9_]{30,}" },
  { start: "glpat-", rest: "[A-Za-z0-9_-]{20,}" },
  { start: "AKIA", rest: "[A-Z0-9]{16}(?![A-Za-z0-9])" },
  { start: "ASIA", rest: "[A-Z0-9]{16}(?![A-Za-z0-9])" },
  { start: "AIza", rest: "[A-Za-z0-9_-]{35}" },
  { start: "xoxb-", rest: "[A-Za-z0-9-]{20,}" },
  { start: "xoxp-", rest: "[A-Za-z0-9-]{20,}" },
  { start: "xoxa-", rest: "[A-Za-z0-9-]{20,}" },
  { start: "xapp-", rest: "[A-Za-z0-9-]{20,}" },
  { start: "npm_", rest: "[A-Za-z0-9]{36}" },
  { start: "hf_", rest: "[A-Za-z0-9]{30,}" },
  { start: "SG.", rest: "[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}" },
];

// A JSON Web Token. Looked for part by part: as a pattern, each of many starts would read to the end of the text.
const TOKEN_START = "eyJ";
const STARTS = [...SHAPES.map(({ start }) => start), TOKEN_START];
const DOTTED = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){2,}/g;
const HEADER_START = new RegExp(`(?<![A-Za-z0-9_])${TOKEN_START}`);

const RUN = "[A-Za-z0-9_.-]";
const KEY_BEGIN = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END = /-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/;
const KEY_BLOCK = new RegExp(`${KEY_BEGIN.source}[\\s\\S]*?(?:${KEY_END.source}|$)`, "g");
const SHAPED = new RegExp(
  `(?<![A-Za-z0-9_])(?:${SHAPES.map(({ start, rest }) => RegExp.escape(start) + rest).join("|")})`,
  "g",
);
const TRAILING_RUN = new RegExp(`(?<!${RUN})${RUN}+$`);
const LEADING_RUN = new RegExp(`^${RUN}+`);
// A line that may become the first of a private key.
const TRAILING_DASHES = /-{1,5}(?:(?<=-{5})B[A-Z0-9 ]*-{0,4})?$/;

// Held text is never longer than this; the longest key block and the longest token are shorter.
const MAX_HELD = 16_384;

function hideShapes(text: string): string {
  return text.replace(KEY_BLOCK, HIDDEN).replace(DOTTED, hideTokens).replace(SHAPED, HIDDEN);
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

/**
 * The same over a stream, where a secret may be cut anywhere. Only a tail that could be the beginning of
 * a secret is held back, so ordinary text is not delayed.
 */
export function createRedactStream(mask: Mask): HidingStream {
  const values = mask.stream();
  const shapes = createShapeStream();
  return {
    push: (delta) => shapes.push(values.push(delta)),
    end: () => shapes.push(values.end()) + shapes.end(),
  };
}

function createShapeStream(): HidingStream {
  let held = "";
  // The last character let go: whether a shape begins after it is seen from it.
  let last = "";
  // True inside a secret too long to hold: the rest of its run is dropped.
  let swallowing = false;

  const release = (text: string): string => {
    const safe = hideShapes(last + text).slice(last.length);
    last = text.at(-1) ?? last;
    return safe;
  };

  return {
    push(delta) {
      held += delta;
      if (swallowing) {
        held = held.slice(LEADING_RUN.exec(held)?.[0].length ?? 0);
        if (held === "") return "";
        swallowing = false;
      }
      const keep = Math.max(openKey(held), openShape(held, last));
      if (keep > MAX_HELD) {
        swallowing = true;
        const all = held;
        held = "";
        return release(all);
      }
      const cut = held.length - keep;
      const free = held.slice(0, cut);
      held = held.slice(cut);
      return release(free);
    },
    end() {
      const rest = held;
      held = "";
      return release(rest);
    },
  };
}

/** Length of a private key that has begun and not ended, or that may be beginning. */
function openKey(text: string): number {
  const begin = text.lastIndexOf("-----BEGIN ");
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
