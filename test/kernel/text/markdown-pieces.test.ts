import fc from "fast-check";
import { expect, test } from "vitest";
import { cutMarkdown } from "../../../kernel/text/markdown-pieces.ts";

const types = (text: string) => cutMarkdown(text).map(({ type }) => type);

test("ordinary Markdown is one piece for the parser, with fenced code apart", () => {
  expect(cutMarkdown("# Title\n\n- *one*\n\n```ts x\nconst a = 1;\n\n*\n```\nEnd.")).toEqual([
    { type: "markdown", raw: "# Title\n\n- *one*\n\n" },
    { type: "code", raw: "```ts x\nconst a = 1;\n\n*\n```\n", text: "const a = 1;\n\n*", language: "ts" },
    { type: "markdown", raw: "End." },
  ]);
});

test("a long list with emphasis and a long table are still for the parser", () => {
  expect(types("- **item** with `code` and [a link](https://example.org)\n".repeat(200))).toEqual([
    "markdown",
  ]);
  expect(types(`|a|b|\n|-|-|\n${"| **1** | 2 |\n".repeat(500)}`)).toEqual(["markdown"]);
});

test.each(["*", "_a_", "[", ">", "1. ", "- ", "<a ", "  ", "a\n"])(
  "what would take the parser long is shown as it is: %j again and again",
  (unit) => {
    expect(types(`${unit.repeat(60_000)}x`)).toEqual(["plain"]);
  },
);

test("no character is lost, whatever the text", () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom("```", "~~~~", "\n", "\r\n", "    ", "- ", "*", "`"));
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");
      expect(
        cutMarkdown(text)
          .map(({ raw }) => raw)
          .join(""),
      ).toBe(text);
    }),
  );
});
