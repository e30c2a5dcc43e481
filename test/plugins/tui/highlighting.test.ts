import { stripVTControlCharacters } from "node:util";
import { afterAll, expect, test } from "vitest";
import { createHighlighter } from "../../../plugins/tui/text/highlighter.ts";
import { type Rendering, renderMarkdown } from "../../../plugins/tui/text/markdown.ts";
import { createPalette } from "../../../plugins/tui/text/palette.ts";

const palette = createPalette(true);
const highlighter = createHighlighter(() => {});
afterAll(() => highlighter.close());

const MAGENTA = "\u001b[35m";
const GREEN = "\u001b[32m";
const GRAY = "\u001b[90m";

const draw = (source: string, earlier?: Rendering) =>
  renderMarkdown(source, 60, palette, earlier, highlighter);

async function drawn(source: string, earlier?: Rendering): Promise<Rendering> {
  let rendering = draw(source, earlier);
  await expect
    .poll(() => {
      rendering = draw(source, rendering);
      return rendering.isFinal;
    })
    .toBe(true);
  return rendering;
}

test("code in a fenced block is coloured, line by line, and says the same as before", async () => {
  const source = "Look:\n\n```ts\nconst x = `a\nb`; // <why> & 'how'\n```\n\nDone.";
  const before = draw(source);
  const after = await drawn(source, before);
  expect(after.lines.map(stripVTControlCharacters)).toEqual(before.lines.map(stripVTControlCharacters));
  const [first = "", second = ""] = after.lines.slice(2);
  expect(first).toContain(`${MAGENTA}const`);
  expect(first).toContain(`${GREEN}\`a`);
  expect(second).toContain(`${GREEN}b\``);
  expect(second).toContain(`${GRAY}// <why> & 'how'`);
});

test("code that is still being written keeps the colours it has, and gets the rest", async () => {
  const begun = await drawn("```js\nlet one = 1;\nlet two");
  const grown = draw("```js\nlet one = 1;\nlet two = 2;\n// end\n```", begun);
  expect(grown.lines.join("\n").split(`${MAGENTA}let`)).toHaveLength(3);
  expect(grown.isFinal).toBe(false);
  const whole = await drawn("```js\nlet one = 1;\nlet two = 2;\n// end\n```", grown);
  expect(whole.lines.at(-1)).toContain(`${GRAY}// end`);
});

test("code in a language that is not known, or in none, is shown as it is", async () => {
  const { lines } = await drawn("```klingon\nqapla' 1\n```\n\n```\nlet x = 1;\n```");
  expect(lines.map(stripVTControlCharacters)).toEqual(["│ qapla' 1", "", "│ let x = 1;"]);
  for (const colour of [MAGENTA, GREEN]) expect(lines.join("")).not.toContain(colour);
});

test("code that would take minutes to colour is shown without, and the next is coloured", async () => {
  const slow = `\`\`\`markdown\n${"[a](".repeat(4500)}\n\`\`\``;
  const { lines } = await drawn(slow);
  expect(lines.join("")).not.toContain(GREEN);
  expect((await drawn("```json\n{}\n```\n\n```py\nimport os\n```")).lines.join("")).toContain(
    `${MAGENTA}import`,
  );
});
