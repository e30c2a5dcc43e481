import { expect, test } from "vitest";
import { compareLines } from "../../../kernel/vocabulary/wire/line-diff.ts";

const lines = (text: string) => text.split("");

test("what was removed and what is new is shown with the common lines around it, and nothing where nothing changed", () => {
  expect(compareLines(lines("abcdefg"), lines("abcXefg"))).toEqual(["- d", "+ X"]);
  expect(compareLines(lines("abcdefg"), lines("abcXefg"), { context: 1 })).toEqual([
    "  c",
    "- d",
    "+ X",
    "  e",
  ]);
  expect(compareLines(lines("abc"), lines("ac"))).toEqual(["- b"]);
  expect(compareLines([], lines("a"))).toEqual(["+ a"]);
  expect(compareLines(lines("abc"), lines("abc"), { context: 2 })).toEqual([]);
});

test("two long texts without a common line are compared at once", () => {
  const text = (word: string) => Array.from({ length: 100_000 }, (_, at) => `${word} ${at}`);
  expect(compareLines(text("one"), text("other"), { context: 2 })).toHaveLength(200_000);
});
