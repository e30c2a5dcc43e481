import { expect, test } from "vitest";
import {
  clipTokens,
  contentStems,
  foldedWords,
  listing,
  stem,
  trimEnd,
  tryRecord,
  wordsOfName,
} from "../../../kernel/kit.ts";

test("words are compared in lower case and without accents, and syllables stay whole", () => {
  expect(foldedWords("Café, ÀLA carte 한국어")).toEqual(["cafe", "ala", "carte", "한국어"]);
});

test("the words inside an identifier are found, however it is written", () => {
  expect(wordsOfName("get_airQuality-v2")).toEqual(["get", "air", "quality", "v2"]);
});

test("a stem has none of the commonest endings", () => {
  expect(["Cities", "running", "planned", "user’s", "notes", "bus"].map(stem)).toEqual([
    "city",
    "run",
    "plan",
    "user",
    "not",
    "bus",
  ]);
  expect([...contentStems("What is the weather in the cities?")]).toEqual(["weather", "city"]);
});

test("a list is said with a word before its last part", () => {
  expect([listing([]), listing(["a"]), listing(["a", "b", "c"], "or")]).toEqual(["", "a", "a, b or c"]);
});

test("marks and spaces at the end go, and those inside stay", () => {
  expect(trimEnd("Well, yes … !")).toBe("Well, yes");
});

test("a text that is no JSON object reads as an empty one", () => {
  expect([tryRecord('{"a":1}'), tryRecord("[1]"), tryRecord("{")]).toEqual([{ a: 1 }, {}, {}]);
});

test("a text is cut to a number of tokens, and never in the middle of a letter", () => {
  expect(clipTokens("ab€€€", 1)).toBe("ab");
  expect(clipTokens("abc€", 2)).toBe("abc€");
});
