/** Mistakes in an author's sources, in the form every editor and terminal can jump to. */
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

export function buildFault(mistakes: readonly Mistake[]): Fault {
  const lines = mistakes.map((mistake) => `  ${describeMistake(mistake)}`);
  const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
  return new Fault("invalid", "build_failed", `not built, ${count}:\n${lines.join("\n")}`);
}
