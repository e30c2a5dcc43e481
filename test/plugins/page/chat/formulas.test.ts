import { expect, test } from "vitest";
import { replaceFormulas } from "../../../../plugins/page/chat/prose/formulas.ts";

const marked = (text: string) =>
  replaceFormulas(text, ({ tex, isBlock }) => (isBlock ? `[[${tex}]]` : `<${tex}>`));

test.each([
  ["$x^2$ and $a_1$, or ($y$).", "<x^2> and <a_1>, or (<y>)."],
  ["$$\na = b\n$$", "[[\na = b\n]]"],
  ["\\(x\\) and \\[y\\]", "<x> and [[y]]"],
  ["$\\$5$", "<\\$5>"],
])("%j has formulas", (text, found) => {
  expect(marked(text)).toBe(found);
});

test.each([
  "It costs $5 and $10.",
  "From $5-$10, US$5, 5$ or $5.",
  "between $5 and 10$ each",
  "$HOME/$PATH and $HOME and $PATH",
  "`$x$` and ``a ` $y$``",
  "\\$x\\$ and \\\\(x\\\\)",
  "$ x $ and $$ $$",
  "$a\n\nb$ and $$a\n\nb$$ and \\[a\n\nb\\]",
  `$${"x".repeat(3000)}$`,
  "\\(never closed, $ nor $$ this",
])("%j has none", (text) => {
  expect(marked(text)).toBe(text);
});

test("a text with very many marks is read in linear time, and only so many formulas are drawn", () => {
  for (const mark of ["$", "$$", "\\(", "\\[", "`", "``` `", "$x ", "`$"]) marked(mark.repeat(300_000));
  expect(marked("$x$ ".repeat(1000)).match(/<x>/g)).toHaveLength(300);
});
