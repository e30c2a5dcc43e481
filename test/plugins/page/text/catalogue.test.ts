/** The texts of the page: every language has all of them, and no text stands anywhere else. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import * as de from "../../../../plugins/page/text/de/de.ts";
import * as en from "../../../../plugins/page/text/en/en.ts";
import { LANGUAGES } from "../../../../plugins/page/text/language.ts";
import { ROOT } from "../../../support/clone.ts";

const PAGE = join(ROOT, "plugins/page");

/** Each key with the kind of its value and, of a function, how many values it takes. */
function shapeOf(texts: object, before = ""): string[] {
  return Object.entries(texts).flatMap(([key, value]) => {
    const name = `${before}${key}`;
    if (typeof value === "function") return [`${name}(${value.length})`];
    return typeof value === "object" ? shapeOf(value, `${name}.`) : [name];
  });
}

const textsOf = (texts: object): string[] =>
  Object.values(texts).flatMap((value) =>
    typeof value === "string" ? [value] : typeof value === "object" ? textsOf(value) : [],
  );

test("every language has each text, no other one, and none is empty", () => {
  const others = { de };
  expect(Object.keys(others)).toEqual(Object.keys(LANGUAGES).filter((name) => name !== "en"));
  for (const catalogue of [en, ...Object.values(others)]) {
    expect(shapeOf(catalogue).toSorted()).toEqual(shapeOf(en).toSorted());
    expect(textsOf(catalogue).filter((words) => words.trim() === "")).toEqual([]);
  }
});

/** Folders whose texts are not in the catalogue yet. */
const EXCEPTIONS: readonly string[] = [];

// Values that are read as they are, and whatever else looks like words that people read.
const READ =
  /(?:children|label|title|placeholder|alt|words|yes|empty|hint|"aria-label"|"aria-description"): $/;
const UNREAD =
  /class(?:Name)?(?::| =) [^,;]*$|(?:href|src|type|role|id|name|rel|autocomplete): $|querySelector(?:All)?\($|\b(?:closest|matches|matchMedia)\($/;
const STRING = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;
/** Names of keys, classes and products as others have them, and selectors. */
const NAMES =
  /^(?:Arrow\w+|Escape|Enter|Tab|Home|End|Page(?:Up|Down)|Notification|Files|Ollama|[.#][a-z-]+( .*)?)$/;

/** Returns what looks like text for people. JSX is compiled first, which leaves all of it in strings. */
async function findTexts(file: string): Promise<readonly string[]> {
  const source = readFileSync(join(PAGE, file), "utf8");
  const { code } = await transform(source, {
    loader: file.endsWith("x") ? "tsx" : "ts",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    charset: "utf8",
  });
  return [...code.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$|^import .*$/gm, "").matchAll(STRING)]
    .map(({ 1: double, 2: single, 3: template, index, input }) => ({
      words: (double ?? single ?? template ?? "").replaceAll(/\$\{[^}]*\}?/g, "").trim(),
      before: input.slice(Math.max(0, index - 80), index),
    }))
    .filter(({ words, before }) => {
      if (!/\p{L}{2}/u.test(words) || NAMES.test(words) || UNREAD.test(before)) return false;
      const isProse =
        /^\p{Lu}\p{Ll}+(?:[ .,…:?]|$)/u.test(words) || /\p{Ll}{2,}[,:]? \p{Ll}{2,} ?\p{Ll}*/u.test(words);
      return READ.test(before) || isProse;
    })
    .map(({ words }) => words);
}

const FILES = readdirSync(PAGE, { recursive: true, withFileTypes: true })
  .filter((one) => one.isFile() && /\.tsx?$/.test(one.name))
  .map((one) => relative(PAGE, join(one.parentPath, one.name)))
  .filter((file) => !/^(?:text|dist|installable)\/|^(?:build|generate|plugin)\.ts$/.test(file))
  // The names of elements of HTML and MathML, and patterns.
  .filter((file) => !/^chat\/prose\/(?:markdown|maths|formulas|colours)\.ts$/.test(file));

test("no text for people stands outside of the catalogue", async () => {
  const found = await Promise.all(FILES.map(async (file) => [file, await findTexts(file)] as const));
  const texts = found.filter(([, words]) => words.length > 0);
  const isExcepted = (file: string) => EXCEPTIONS.some((folder) => file.startsWith(folder));
  expect(texts.filter(([file]) => !isExcepted(file))).toEqual([]);
  expect(EXCEPTIONS.filter((folder) => !texts.some(([file]) => file.startsWith(folder)))).toEqual([]);
});
