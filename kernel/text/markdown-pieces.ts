/** A stranger's Markdown, cut so that showing it takes linear time: a few thousand stars would keep a parser for seconds. */

export type Piece =
  | { readonly type: "markdown"; readonly raw: string }
  /** A fenced block: shown as it is. */
  | { readonly type: "code"; readonly raw: string; readonly text: string; readonly language: string }
  /** Has more marks than any prose: shown as it is. */
  | { readonly type: "plain"; readonly raw: string };

/** The sum, over paragraphs, of the square of their marks: three thousand of them in one take a tenth of a second. */
const MAX_WORK = 9_000_000;
/** Longer texts are not parsed as Markdown: the parser takes its time with each line. */
const MAX_PROSE = 50_000;
const MARKS = /[*_~!<>[\]`\\]/g;
// Matches the opener of a list or a quote; several on one line nest.
const OPENER = /[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))/y;
/** Levels inside each other: the parser calls itself for each. */
const DEEPEST = 40;
const INDENT = 4;
const FENCE = /^(`{3,}|~{3,})([^`]*)$/;

export function cutMarkdown(text: string): readonly Piece[] {
  // Each with the break at its end.
  const lines = text.split(/(?<=\n)/);
  const pieces: Piece[] = [];
  let work = 0;
  let length = 0;
  let prose: string[] = [];
  const endProse = () => {
    if (prose.length === 0) return;
    const raw = prose.join("");
    work += workOf(prose);
    length += raw.length;
    pieces.push({ type: work > MAX_WORK || length > MAX_PROSE ? "plain" : "markdown", raw });
    prose = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const [, fence, info = ""] = FENCE.exec(line.trimEnd()) ?? [];
    if (fence === undefined) {
      prose.push(line);
      continue;
    }
    endProse();
    const start = at;
    do at++;
    while (at < lines.length && !closes(lines[at] as string, fence));
    const inside = lines.slice(start + 1, at).join("");
    const [language = ""] = info.trim().split(/\s/, 1);
    pieces.push({
      type: "code",
      raw: lines.slice(start, at + 1).join(""),
      text: inside.endsWith("\n") ? inside.slice(0, -1) : inside,
      language,
    });
  }
  endProse();
  return pieces;
}

/** A line of nothing but the same marks, at least as many. */
function closes(line: string, fence: string): boolean {
  const bare = line.trim();
  return bare.length >= fence.length && bare === fence.charAt(0).repeat(bare.length);
}

function workOf(lines: readonly string[]): number {
  let work = 0;
  let marks = 0;
  for (const line of lines) {
    if (line.trim() === "") {
      work += marks ** 2;
      marks = 0;
    } else marks += marksOf(line);
  }
  return work + marks ** 2;
}

function marksOf(line: string): number {
  let levels = (line.length - line.trimStart().length) / INDENT;
  OPENER.lastIndex = 0;
  while (OPENER.test(line)) levels++;
  return levels > DEEPEST ? Number.POSITIVE_INFINITY : levels + (line.match(MARKS)?.length ?? 0);
}
