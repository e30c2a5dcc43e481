/** Makes a function of the code that the model wrote, and finds the line of an error in it. */
import { transform } from "sucrase";
import { messageOf } from "./plain.ts";

type Body = () => Promise<unknown>;

const AsyncFunction = (async () => {}).constructor as new (body: string) => Body;

const IMPORT = /\bimport\s*[(.]/;
const QUOTED = /\/\/.*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
const NO_MODULES =
  " There are no modules: csv, stats, dates, table, chart, files and tools are there already.";

/** What is wrong with the code, in words for who wrote it. */
export class CodeError extends Error {}

/** Longer code returns what it says it returns. */
const MAX_SEARCHED = 20_000;
const MAX_TRIES = 80;
/** What cannot begin the last statement, or would be read as something else there. */
const NO_BEGINNING =
  /^(?:[.,?:*/%&|^<>=+\-})\]]|\{|(?:async\s+)?function\b|class\b|(?:else|catch|finally|while)\b)/;

export function compile(code: string): Body {
  // The engine has no loader, and ends the whole instance where it is asked to load something.
  if (IMPORT.test(code.replace(QUOTED, "")))
    throw new CodeError(`The code cannot import anything.${NO_MODULES}`);
  try {
    return build(code);
  } catch (error) {
    const script = withoutTypes(code);
    if (script === undefined || script === code) throw describeSyntax(error, code);
    try {
      return build(script);
    } catch (other) {
      throw describeSyntax(other, code);
    }
  }
}

function build(code: string): Body {
  return withLastValue(code) ?? new AsyncFunction(code);
}

/** The lines stay where they are. */
function withoutTypes(code: string): string | undefined {
  try {
    return transform(code, {
      transforms: ["typescript"],
      disableESTransforms: true,
      keepUnusedImports: true,
    }).code;
  } catch {
    return undefined;
  }
}

/** The function that returns the value of its last expression, where the code ends with one. */
function withLastValue(code: string): Body | undefined {
  if (code.length > MAX_SEARCHED) return undefined;
  const end = code.trimEnd().replace(/;+$/, "");
  const starts = [...end.matchAll(/(?:^|\n|;)[ \t]*(?=\S)/g)].map(
    ({ 0: lead, index }) => index + lead.length,
  );
  for (const start of starts.reverse().slice(0, MAX_TRIES)) {
    const last = end.slice(start);
    if (NO_BEGINNING.test(last)) continue;
    const before = end.slice(0, start);
    // A line that goes on with a bracket belongs to the one before.
    if (/^[([`]/.test(last) && !/(?:^|[;{}])\s*$/.test(before)) continue;
    const whole = tryBuild(`${before}return (${last}\n)`);
    if (whole !== undefined && tryBuild(before) !== undefined && tryBuild(`(${last}\n)`) !== undefined)
      return whole;
  }
  return undefined;
}

function tryBuild(code: string): Body | undefined {
  try {
    return new AsyncFunction(code);
  } catch {
    return undefined;
  }
}

interface EngineError {
  readonly lineNumber?: number;
  readonly stack?: string;
}

/** In which line of its text the engine sees the first one of a function's body. */
const OFFSET = (() => {
  try {
    new AsyncFunction("@");
    return 0;
  } catch (error) {
    return ((error as EngineError).lineNumber ?? 1) - 1;
  }
})();

function describeSyntax(error: unknown, code: string): CodeError {
  const line = ((error as EngineError).lineNumber ?? 0) - OFFSET;
  const hint = /^\s*(?:import|export)\b/m.test(code) ? NO_MODULES : "";
  return new CodeError(`The code cannot be read. ${messageOf(error)}${quote(line, code)}${hint}`);
}

/** What the code threw, with the line that it was thrown from. */
export function describeThrown(error: unknown, code: string): CodeError {
  const stack = typeof error === "object" && error !== null ? String((error as EngineError).stack ?? "") : "";
  const [, line] = /> AsyncFunction:(\d+)/.exec(stack) ?? [];
  return new CodeError(`${messageOf(error)}${line === undefined ? "" : quote(Number(line) - OFFSET, code)}`);
}

function quote(line: number, code: string): string {
  const text = code.split("\n")[line - 1];
  return text === undefined ? "" : `\nIn line ${line}: ${text.trim().slice(0, 300)}`;
}
