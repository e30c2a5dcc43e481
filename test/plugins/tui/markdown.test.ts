import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { quoted, type Rendering, renderMarkdown } from "../../../plugins/tui/text/markdown.ts";
import { createPalette } from "../../../plugins/tui/text/palette.ts";

const palette = createPalette(true);
const shown = (source: string, width = 60) =>
  renderMarkdown(source, width, palette).lines.map(stripVTControlCharacters);

const SAMPLE = `# Title

A *slanted* and **strong** [link](https://example.org) with \`code\`.

1. one
2. two
   - inner
   - [x] done

> quoted
> twice

\`\`\`ts
const x  =  1;
\`\`\`

| a | b |
|---|---|
| 1 | two words |

---
One[^1] and none[^2].

[^1]: A *note*
  that goes on.
[^note]: Another.

End.`;

test("every kind of block is rendered", () => {
  expect(shown(SAMPLE)).toEqual([
    "Title",
    "",
    "A slanted and strong link (https://example.org) with code.",
    "",
    "1. one",
    "2. two",
    "   • inner",
    "   • [x] done",
    "",
    "▎ quoted",
    "▎ twice",
    "",
    "│ const x  =  1;",
    "",
    "a │ b        ",
    "──┼──────────",
    "1 │ two words",
    "",
    "─".repeat(40),
    "One[1] and none[^2].",
    "",
    "[1] A note that goes on.",
    "[note] Another.",
    "",
    "End.",
  ]);
});

test("the cells of a table are aligned as its rule says", () => {
  expect(shown("| left | right | middle |\n|:--|--:|:-:|\n| a | 1 | b |\n| long one | 1,000 | c |")).toEqual([
    "left     │ right │ middle",
    "─────────┼───────┼───────",
    "a        │     1 │   b   ",
    "long one │ 1,000 │   c   ",
  ]);
});

test("a text streamed in any pieces renders the same as the whole text", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 60 }), (sizes) => {
      let rendering: Rendering | undefined;
      let end = 0;
      for (const size of sizes) {
        end += size;
        rendering = renderMarkdown(SAMPLE.slice(0, end), 50, palette, rendering);
      }
      rendering = renderMarkdown(SAMPLE, 50, palette, rendering);
      expect(rendering.lines).toEqual(renderMarkdown(SAMPLE, 50, palette).lines);
    }),
  );
});

test("no line is wider than the screen, for any text and width", () => {
  const piece = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(...SAMPLE.split(/(?<=\n)/)));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 8, max: 80 }), (pieces, width) => {
      for (const line of renderMarkdown(pieces.join(""), width, palette).lines)
        expect(stringWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test("a head that is wider than the screen is wrapped, too", () => {
  const { lines } = renderMarkdown("| 1 | two words |\n|---|---|\n| x | y |", 8, createPalette(false));
  expect(lines.map(stripVTControlCharacters)).toEqual(["1 x", "two ", "words", "  y"]);
});

test("escape sequences from a model never reach the terminal", () => {
  const evil =
    "a\u001b]0;title\u0007b \u001b[2J `c\u001b[31m` \u202eright to left\n\n```\n\u001b[?1049l\n```";
  const lines = renderMarkdown(evil, 60, createPalette(false)).lines.join("\n");
  expect(lines).not.toContain("\u202e");
  expect(lines).not.toContain("\u001b]0");
  expect(lines).not.toContain("\u001b[2J");
  expect(lines).not.toContain("\u001b[?1049l");
});

test("formulas are kept as they were written, and prices are no formulas", () => {
  const text =
    "With $a_1 * b * c$, \\(x*y*z\\) and\n\n$$\n\\sum_{i=0}^n x_i \\\\ *y*\n$$\n\nIt costs $5 and *not* $6.";
  const shown = renderMarkdown(text, 80, createPalette(false)).lines.join("\n");
  expect(shown).toContain("With $a_1 * b * c$, \\(x*y*z\\) and");
  expect(shown).toContain("$$\n\\sum_{i=0}^n x_i \\\\ *y*\n$$");
  expect(stripVTControlCharacters(shown)).toContain("It costs $5 and not $6.");
});

test("what others wrote is shown as it is in our own notes: marks, formulas and addresses", () => {
  const texts = [
    "/threads [number, title or words]",
    "Open http://127.0.0.1:4732/?token=D_qi_03",
    "a_b *c* $x_1$ \\(y\\) `d` <e> # f [g](http://h.example/i_j)",
  ];
  for (const text of texts) expect(shown(quoted(text), 120)).toEqual([text]);
});
