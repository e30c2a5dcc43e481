/** The regular expressions in our code, and texts that would keep a bad one busy for hours. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { parseAst } from "vitest/node";
import { ROOT } from "./clone.ts";

export interface Pattern {
  readonly file: string;
  readonly expression: RegExp;
}

/** As written, `/…/` each: those made of strings are tried through the functions that use them. */
export function allPatterns(folders: readonly string[]): readonly Pattern[] {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT }));
  return files
    .filter((file) => !/(^|\/)(dist|node_modules)\//.test(file))
    .flatMap((file) => {
      const found: Pattern[] = [];
      const lang = file.endsWith("x") ? "tsx" : "ts";
      collect(parseAst(readFileSync(join(ROOT, file), "utf8"), { lang }), file, found);
      return found;
    });
}

function collect(node: unknown, file: string, found: Pattern[]): void {
  if (typeof node !== "object" || node === null) return;
  const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } };
  if (regex) found.push({ file, expression: new RegExp(regex.pattern, regex.flags) });
  else for (const child of Object.values(node)) collect(child, file, found);
}

const CLASSES: Readonly<Record<string, string>> = {
  s: " \n",
  S: "a!",
  d: "0",
  D: "a",
  w: "aA0_",
  W: " -",
  n: "\n",
  t: "\t",
  r: "\r",
};
const PIECE =
  /\\[pP]\{[^}]*\}|\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})|\\(.)|\(\?(?:[:=!]|<[=!]|<\w+>)|\{\d+,?\d*\}|([\s\S])/gu;
const MOST_PIECES = 18;

/** What a text has to be made of to get into a pattern: its words, its characters, and one of each class. */
function piecesOf(source: string): readonly string[] {
  const pieces = new Set(["a", " ", "\n"]);
  let word = "";
  const end = () => {
    if (word.length > 1) pieces.add(word);
    word = "";
  };
  for (const [all, long, short, escaped, plain] of source.matchAll(PIECE)) {
    const code = long ?? short;
    const known = escaped === undefined ? undefined : CLASSES[escaped];
    const isWord =
      known === undefined && (/^[^\w]$/.test(escaped ?? "") || /^[^()[\]{}|*+?.^$]$/u.test(plain ?? ""));
    if (isWord) word += escaped ?? plain;
    else end();
    if (all.startsWith("\\p") || all.startsWith("\\P")) for (const each of "aAé1") pieces.add(each);
    else if (code !== undefined) pieces.add(String.fromCodePoint(Number.parseInt(code, 16)));
    else if (known !== undefined) for (const each of known) pieces.add(each);
    else if (isWord) pieces.add((escaped ?? plain) as string);
  }
  end();
  return [...pieces].slice(0, MOST_PIECES);
}

// What makes a match fail after it has gone far.
const ENDS = ["\u0001", "", "\u0001 \u0001", "a a\n\n!"];

/** The beginning, what is repeated, and the end. */
export type Recipe = readonly [start: string, unit: string, end: string];

/** Every piece and every two of them again and again, after every other. */
export function recipesFor(source: string): readonly Recipe[] {
  const pieces = piecesOf(source);
  return pieces.flatMap((unit) => [
    ...pieces.flatMap((other) =>
      ENDS.flatMap((end): Recipe[] => [
        [other, unit, end],
        ["", unit + other, end],
      ]),
    ),
    ...ENDS.map((end): Recipe => ["", unit, end]),
  ]);
}

export function cook([start, unit, end]: Recipe, length: number): string {
  return start + unit.repeat(Math.ceil(length / unit.length)) + end;
}

const context = createContext({ work: () => {} });
const script = new Script("work()");

/** Ends work that would otherwise end nobody knows when. The limit is for what hangs, not for what is slow. */
export function withoutHanging<Result>(work: () => Result, timeout = 120_000): Result {
  context["work"] = work;
  return script.runInContext(context, { timeout });
}
