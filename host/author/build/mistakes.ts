/** Mistakes in an author's sources, in the form every editor and terminal can jump to. */
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { Fault } from "../../../kernel/plugin.ts";

export interface Mistake {
  readonly file: string;
  /** From 1; 0 where the mistake is the whole file's. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export function describeMistake({ file, line, column, message }: Mistake): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
}

/** Locates a mistake at the first match of `words` in a file of the project. Without a match it is about the whole file. */
export async function mistakeAt(
  folder: string,
  file: string,
  words: RegExp,
  message: string,
): Promise<Mistake> {
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n");
  const line = lines.findIndex((text) => words.test(text));
  const column = (words.exec(lines[line] ?? "")?.index ?? -1) + 1;
  return { file: relative(folder, file), line: line + 1, column, message };
}

export function buildFault(mistakes: readonly Mistake[]): Fault {
  const lines = mistakes.map((mistake) => `  ${describeMistake(mistake)}`);
  const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
  return new Fault("invalid", "build_failed", `not built, ${count}:\n${lines.join("\n")}`);
}
