/** SECURITY.md promises nothing that no test would miss. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lexer, type Token, type Tokens } from "marked";
import { expect, test } from "vitest";
import { ROOT } from "./support/clone.ts";

/** A sentence under any other heading needs evidence. */
const WITHOUT_PROMISES = ["Security", "Report a problem", "What is trusted", "What Postern does not promise"];
const NOT_PROMISED = "**Not promised:**";
const PAGE = lexer(readFileSync(join(ROOT, "SECURITY.md"), "utf8"));

interface Evidence {
  readonly number: string;
  readonly file: string;
  readonly title: string;
}

/** Each text of the page that stands by itself, under its heading of the first or second level. */
function texts(): readonly { readonly section: string; readonly text: string }[] {
  let section = "";
  return PAGE.flatMap((token) => {
    if (token.type === "heading" && token.depth <= 2) section = token.text;
    return textsOf(token).map((text) => ({ section, text }));
  });
}

function textsOf(token: Token): readonly string[] {
  if (token.type === "paragraph") return [token.text];
  if (token.type === "list") return (token as Tokens.List).items.map(({ text }) => text);
  if (token.type === "table") return (token as Tokens.Table).rows.map((row) => row.at(-1)?.text ?? "");
  return [];
}

/** Without pointers to other pages, names of paragraphs and what is said not to be promised. */
function promisesOf(text: string): readonly string[] {
  if (text.startsWith(NOT_PROMISED)) return [];
  return text
    .replace(/^See \[[^\]]+\]\([^)]+\)\.|^\*\*[^*]+\.\*\*/, "")
    .replace(/\s+/g, " ")
    .split(/(?<=[.?!]) /)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

const numbersIn = (sentence: string) =>
  [...sentence.matchAll(/\[(\d+(?:, \d+)*)\]/g)].flatMap(([, list = ""]) => list.split(", "));

const PROMISES = texts()
  .filter(({ section }) => ![...WITHOUT_PROMISES, "Evidence"].includes(section))
  .flatMap(({ text }) => promisesOf(text));

const EVIDENCE =
  PAGE.filter((token): token is Tokens.Table => token.type === "table")
    .at(-1)
    ?.rows.map(
      ([number, file, title]): Evidence => ({
        number: number?.text ?? "",
        file: `test/${file?.text.replaceAll("`", "")}.test.ts`,
        title: title?.text ?? "",
      }),
    ) ?? [];

/** Whether a test, an attack or a group of tests in the file has the title. */
function isThere({ file, title }: Evidence): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  const titled = new RegExp(`\\(\\s*(?:[\\w"]+,\\s+)?(["\`])${RegExp.escape(title)}\\1,`);
  return titled.test(readFileSync(join(ROOT, file), "utf8"));
}

test("each sentence that promises something ends with the number of its evidence", () => {
  expect(PROMISES.length).toBeGreaterThan(100);
  expect(PROMISES.filter((sentence) => !/\[\d+(?:, \d+)*\]\.?$/.test(sentence))).toEqual([]);
});

test("each number is a test that exists, and each test is the evidence of something", () => {
  expect(EVIDENCE.filter((one) => !isThere(one))).toEqual([]);
  const used = new Set(PROMISES.flatMap(numbersIn));
  expect([...used].sort()).toEqual(EVIDENCE.map(({ number }) => number).sort());
});

test("what is said not to be promised is there, and claims no evidence", () => {
  const exceptions = texts().filter(({ text }) => text.startsWith(NOT_PROMISED));
  expect(exceptions.length).toBeGreaterThan(3);
  expect(exceptions.filter(({ text }) => numbersIn(text).length > 0)).toEqual([]);
});

test.each(["A tool opens no file.", "A tool opens no file [1]. It has no network."])(
  "a sentence without evidence is found: %s",
  (text) => {
    expect(promisesOf(text).some((sentence) => !/\[\d+(?:, \d+)*\]\.?$/.test(sentence))).toBe(true);
  },
);
