/** The contrasts that the description of the page's look states, measured from its tokens. */
import { expect, test } from "vitest";
import { TOKENS } from "../../../../plugins/page/chat/turns/chart-colours.ts";
import { read } from "../../../support/architecture.ts";

const FOLDER = "plugins/page/style";
const COLOURS = new Map(
  [...read(`${FOLDER}/tokens.css`).matchAll(/--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name, light, dark]) => [name as string, [light as string, dark as string]] as const,
  ),
);
const ROWS = [...read(`${FOLDER}/README.md`).matchAll(/^\| ([a-z-]+) on ([a-z-]+) \| (\S+) \| (\S+) \|$/gm)];

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one = "", other = ""): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

test.each(ROWS.map((row) => [...row]))("%s", (_row, front = "", back = "", ...stated) => {
  const measured = [0, 1].map((theme) => contrast(COLOURS.get(front)?.[theme], COLOURS.get(back)?.[theme]));
  expect(measured.map((one) => one.toFixed(1))).toEqual(stated);
  for (const one of measured) expect(one).toBeGreaterThan(front === "field-line" ? 3 : 4.5);
});

test("every colour that text has is measured", () => {
  const measured = new Set(ROWS.map(([, front]) => front));
  expect(measured).toEqual(
    new Set("ink soft accent on-accent alert wait good code-word code-text code-note field-line".split(" ")),
  );
});

test("a chart's colours are those that the tool draws with, and each stands out on a card", () => {
  const drawn = read("components/run-code/chart.ts").match(/#[0-9a-f]{3,6}\b/g) ?? [];
  expect(Object.keys(TOKENS).toSorted()).toEqual([...new Set(drawn)].toSorted());
  const series = [...read(`${FOLDER}/tokens.css`).matchAll(/--chart-\d+: light-dark\((#\w{6}), (#\w{6})\)/g)];
  expect(series).toHaveLength(12);
  for (const [, light = "", dark = ""] of series) {
    expect(contrast(light, COLOURS.get("card")?.[0])).toBeGreaterThan(4.5);
    expect(contrast(dark, COLOURS.get("card")?.[1])).toBeGreaterThan(4.5);
  }
});
