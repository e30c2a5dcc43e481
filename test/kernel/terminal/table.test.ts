import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test, vi } from "vitest";
import { fields, pluginTable, table } from "../../../kernel/terminal/table.ts";

const HEAD = ["NAME", "STATE", "ABOUT"];
const ROWS = [
  ["weather", "on", "current conditions and a forecast for a place anywhere in the world"],
  ["convert", "off", "units"],
];

test("where there is no terminal nothing is cut or broken, and every table has its head", () => {
  expect(table(HEAD, ROWS)).toBe(
    [
      "NAME     STATE  ABOUT",
      "weather  on     current conditions and a forecast for a place anywhere in the world",
      "convert  off    units",
      "",
    ].join("\n"),
  );
});

test("on a terminal the widest column goes on below, by words", () => {
  expect(table(HEAD, ROWS, { width: 50, indent: "  " })).toBe(
    [
      "  NAME     STATE  ABOUT",
      "  weather  on     current conditions and a",
      "                  forecast for a place anywhere in",
      "                  the world",
      "  convert  off    units",
      "",
    ].join("\n"),
  );
});

test("a column that may be cut ends with an ellipsis at the terminal's width, and in time without one", () => {
  const cut = ["ABOUT"];
  const long = [["a-name-too-wide-for-this", "on", "word ".repeat(1000)]];
  for (const width of [40, 80, undefined]) {
    const shown = table(HEAD, long, { cut, ...(width && { width }) });
    expect(shown).toMatch(/[word]…\n/);
    expect(Math.max(...shown.split("\n").map((line) => line.length))).toBeLessThanOrEqual(width ?? 240);
  }
  expect(table(HEAD, ROWS, { width: 50, cut })).toContain(
    "weather  on     current conditions and a forecast…\n",
  );
  expect(table(HEAD, ROWS, { cut })).toContain("anywhere in the world\n");
});

test("where words would break, each row becomes lines of its own, and long words stay whole", () => {
  const id = "0c9c2a52-6b1d-4f6e-8a44-3c1f7a0f8d11";
  expect(table(["ID", "USER", "SINCE"], [[id, "ann", "2026-11-16T08:00:00Z"]], { width: 44 })).toBe(
    [`ID     ${id}`, "USER   ann", "SINCE  2026-11-16T08:00:00Z", "", ""].join("\n"),
  );
});

test("wide characters count as the two cells they take, and a line break in a cell is spelled out", () => {
  expect(table(["A", "B"], [["東京", "x\ny"]])).toBe("A     B\n東京  x\\ny\n");
});

test("names and values of one thing need no head; a long value goes on below itself", () => {
  expect(
    fields(
      [
        ["id", "one"],
        ["detail", "several words that do not fit"],
      ],
      { width: 30 },
    ),
  ).toBe("id      one\ndetail  several words that do\n        not fit\n");
});

test("no line is wider than the terminal unless one word is, whatever the cells and the width", () => {
  const word = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(..."abcdefgh東") });
  const cell = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell, cell, cell), { maxLength: 6 }),
      fc.integer({ min: 40, max: 120 }),
      fc.subarray(["TWO", "FOUR"]),
      (rows, width, cut) => {
        for (const line of table(["ONE", "TWO", "THREE", "FOUR"], rows, { width, cut }).split("\n"))
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 200 },
  );
});

test("the state of a plugin is coloured for who wants colours", () => {
  const states = [
    { name: "page", on: true, detail: "" },
    { name: "slack", on: false, detail: "no token" },
  ];
  vi.stubEnv("FORCE_COLOR", "1");
  expect(pluginTable(states)).toContain("page    \u001b[32mon\u001b[39m");
  expect(pluginTable(states)).toContain("slack   \u001b[90moff\u001b[39m    no token");
  vi.stubEnv("FORCE_COLOR", "0");
  expect(pluginTable(states)).toContain("slack   off    no token");
});
