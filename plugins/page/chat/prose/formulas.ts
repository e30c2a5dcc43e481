/** Finds the formulas in Markdown: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`. Pure, and linear in the text. */

export interface Formula {
  readonly tex: string;
  /** True for a formula on a line of its own. */
  readonly isBlock: boolean;
  /** The formula as written, with its delimiters. */
  readonly raw: string;
}

/** Longer formulas are ignored, since they would keep the page busy. */
const MAX_LENGTH = 2000;
const MAX_FORMULAS = 300;
const MARK = /`+|\\[\s\S]|\${1,2}/g;

/** Returns the text with each formula replaced by the result of `replace`. Code is left as it is. */
export function replaceFormulas(text: string, replace: (formula: Formula) => string): string {
  const marks = [...text.matchAll(MARK)].map(({ 0: mark, index }) => ({ mark, index }));
  // The later places of each kind of mark, the nearest last, so that none is looked at twice.
  const later = Map.groupBy(marks.toReversed(), ({ mark }) => mark);
  const nextOf = (mark: string, from: number) => {
    const places = later.get(mark) ?? [];
    while ((places.at(-1)?.index ?? Number.POSITIVE_INFINITY) < from) places.pop();
    return places.at(-1)?.index;
  };
  const parts: string[] = [];
  let done = 0;
  let found = 0;
  for (const { mark, index } of marks) {
    if (index < done) continue;
    const from = index + mark.length;
    if (mark.startsWith("`")) {
      const end = nextOf(mark, from);
      if (end === undefined) continue;
      parts.push(text.slice(done, end + mark.length));
      done = end + mark.length;
      continue;
    }
    const close = CLOSING[mark];
    const end = close === undefined ? undefined : nextOf(close, from);
    if (close === undefined || end === undefined || end - from > MAX_LENGTH || found >= MAX_FORMULAS)
      continue;
    const tex = text.slice(from, end);
    const isFormula = mark === "$" ? isInline(text, index, end) : tex.trim() !== "" && !tex.includes("\n\n");
    if (!isFormula) continue;
    found++;
    const raw = text.slice(index, end + close.length);
    parts.push(text.slice(done, index), replace({ tex, raw, isBlock: mark === "$$" || mark === "\\[" }));
    done = end + close.length;
  }
  return parts.join("") + text.slice(done);
}

const CLOSING: Readonly<Record<string, string>> = { $: "$", $$: "$$", "\\(": "\\)", "\\[": "\\]" };

/** A dollar sign is more often part of a price or of a variable name. */
function isInline(text: string, start: number, end: number): boolean {
  const tex = text.slice(start + 1, end);
  const isTight = tex !== "" && tex.trim() === tex && !tex.includes("\n\n");
  const standsAlone = !/[\p{L}\p{N}]/u.test((text[start - 1] ?? "") + (text[end + 1] ?? ""));
  // For example "$5 and 10$".
  const isPrice = /^[\d.,]+\s/.test(tex) && !/[\\^_=+*{}<>|/-]/.test(tex);
  return isTight && standsAlone && !isPrice;
}
