/** Text styles: sixteen colours if the terminal has them, weight otherwise. */
import { styleText } from "node:util";

type Paint = (text: string) => string;
type Format = Parameters<typeof styleText>[0];

export type Palette = ReturnType<typeof createPalette>;

// Neither blue, which cannot be read on black, nor white.
const KINDS = {
  magenta: "keyword name selector-tag",
  green: "string regexp addition code",
  yellow: "number literal symbol bullet selector-class selector-id",
  cyan: "title section type built_in attr attribute",
  gray: "comment quote meta",
  red: "deletion",
};
const SYNTAX = new Map(
  Object.entries(KINDS).flatMap(([colour, kinds]) =>
    kinds.split(" ").map((kind) => [kind, colour as keyof typeof KINDS] as const),
  ),
);

/** `pageOf`: the address at which the page shows a file of the workspace; undefined while there is no page. */
export function createPalette(
  hasColours: boolean,
  pageOf: (path: string) => string | undefined = () => undefined,
) {
  const paint =
    (coloured: Format, plain: Format): Paint =>
    (text) =>
      text === "" ? "" : styleText(hasColours ? coloured : plain, text, { validateStream: false });
  const underlined = paint("underline", "underline");
  return {
    hasColours,
    /** A file of the workspace by its path, which terminals that know OSC 8 open on the page. */
    file(path: string, shown: string): string {
      const address = pageOf(path);
      // A link that a line break cuts in two would go on into what follows.
      const text = underlined(shown.replaceAll("\n", " "));
      return address === undefined ? text : `\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\`;
    },
    /** Colours a piece of code by its highlight.js class. */
    syntax(text: string, kind: string): string {
      const format = SYNTAX.get(kind);
      if (!hasColours || format === undefined) return text;
      // A style that goes over a line's end would run into the frame.
      return text
        .split("\n")
        .map((line) => (line === "" ? "" : styleText(format, line, { validateStream: false })))
        .join("\n");
    },
    strong: paint("bold", "bold"),
    faint: paint("gray", "dim"),
    slanted: paint("italic", "italic"),
    struck: paint("strikethrough", "strikethrough"),
    underlined,
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
