/** Makes text safe for the terminal and fits it to the width of the screen. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { visible, withoutHidden } from "../../../kernel/kit/text.ts";

/** Removes what is not text from what a person types or pastes. */
export function typed(text: string): string {
  return withoutHidden(text.replace(/\r\n?/g, "\n")).replaceAll("\t", "    ");
}

/** Spells out what a terminal would act on in a model's or a tool's text. */
export function plain(text: string): string {
  return visible(text.replace(/\r\n?/g, "\n")).replaceAll("\t", "    ");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: style escapes come before the space
const LEADING_SPACE = /^((?:\u001b\[[0-9;]*m)*) +/;

/** Wraps to lines no wider than `width`, between words where possible. Styles end and restart at each break. */
export function wrap(styled: string, width: number): string[] {
  return styled.split("\n").flatMap((line) => {
    const [first = "", ...rest] = wrapAnsi(line, Math.max(1, width), { hard: true, trim: false }).split("\n");
    // Otherwise the space at the break would indent the next line.
    return [first, ...rest.map((piece) => piece.replace(LEADING_SPACE, "$1"))];
  });
}

/** Wraps with a hanging indent: `first` before the first line, `rest` before the others. */
export function hang(first: string, rest: string, styled: string, width: number): string[] {
  const inner = width - Math.max(stringWidth(first), stringWidth(rest));
  return wrap(styled, inner).map((line, index) => `${index === 0 ? first : rest}${line}`);
}

/** Truncates a line that is too long, with an ellipsis. */
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
