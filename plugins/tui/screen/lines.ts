/** Text made safe and cut to the width of the screen. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** What a model or a tool wrote, without what a terminal would obey: escapes, controls, changes of direction. */
export function plain(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(CONTROL, "").replaceAll("\t", "    ");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: styles stand before the space
const LEADING_SPACE = /^((?:\u001b\[[0-9;]*m)*) +/;

/** Lines no wider than this; words are kept whole where they fit. Styles end and begin again at each break. */
export function wrap(styled: string, width: number): string[] {
  return styled.split("\n").flatMap((line) => {
    const [first = "", ...rest] = wrapAnsi(line, Math.max(1, width), { hard: true, trim: false }).split("\n");
    // The space at which a line was broken would indent the next.
    return [first, ...rest.map((piece) => piece.replace(LEADING_SPACE, "$1"))];
  });
}

/** Wrapped, with this before the first line and that before the others. */
export function hang(first: string, rest: string, styled: string, width: number): string[] {
  const inner = width - Math.max(stringWidth(first), stringWidth(rest));
  return wrap(styled, inner).map((line, index) => `${index === 0 ? first : rest}${line}`);
}

/** One line, cut with an ellipsis where it is too long. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
