/** Text styles: sixteen colours if the terminal has them, weight otherwise. */
import { styleText } from "node:util";

type Paint = (text: string) => string;
type Format = Parameters<typeof styleText>[0];

export interface Palette {
  readonly strong: Paint;
  readonly faint: Paint;
  readonly slanted: Paint;
  readonly struck: Paint;
  readonly underlined: Paint;
  readonly chosen: Paint;
  readonly heading: Paint;
  readonly code: Paint;
  readonly person: Paint;
  readonly tool: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warning: Paint;
}

export function createPalette(hasColours: boolean): Palette {
  const paint =
    (coloured: Format, plain: Format): Paint =>
    (text) =>
      text === "" ? "" : styleText(hasColours ? coloured : plain, text, { validateStream: false });
  return {
    strong: paint("bold", "bold"),
    faint: paint("gray", "dim"),
    slanted: paint("italic", "italic"),
    struck: paint("strikethrough", "strikethrough"),
    underlined: paint("underline", "underline"),
    chosen: paint("inverse", "inverse"),
    heading: paint(["bold", "cyan"], "bold"),
    code: paint("yellow", "reset"),
    person: paint(["bold", "green"], "bold"),
    tool: paint("cyan", "reset"),
    good: paint("green", "reset"),
    bad: paint("red", "bold"),
    warning: paint("yellow", "bold"),
  };
}
