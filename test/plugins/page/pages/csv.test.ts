import { expect, test } from "vitest";
import { parseCsv } from "../../../../plugins/page/pages/files/csv.ts";

test("quotes, doubled quotes, breaks within quotes and both line ends are read", () => {
  const text = 'a,b\r\n"x, y","say ""hi"""\n"two\nlines",\n';
  expect(parseCsv(text, 10)).toEqual([
    ["a", "b"],
    ["x, y", 'say "hi"'],
    ["two\nlines", ""],
  ]);
});

test("the separator is the one that the first line has most of", () => {
  expect(parseCsv("a;b;c,d\n1;2;3", 10)).toEqual([
    ["a", "b", "c,d"],
    ["1", "2", "3"],
  ]);
  expect(parseCsv("a\tb\n1\t2", 10)).toEqual([
    ["a", "b"],
    ["1", "2"],
  ]);
});

test("it ends after so many rows, and with a quote that is never closed", () => {
  expect(parseCsv("a\n".repeat(1000), 3)).toHaveLength(3);
  expect(parseCsv('a\n"open', 10)).toEqual([["a"], ["open"]]);
  expect(parseCsv("", 10)).toEqual([]);
});
