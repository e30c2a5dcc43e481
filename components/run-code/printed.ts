/** What the code prints, up to a limit. */
import { describe } from "./plain.ts";

const MAX_CHARACTERS = 50_000;

export function createPrinter() {
  let kept = "";
  let isCut = false;
  const print = (...values: unknown[]): void => {
    // Nothing is made of values that nobody would read.
    if (isCut) return;
    const words = values.map((value) => (typeof value === "string" ? value : describe(value)));
    kept += `${words.join(" ")}\n`;
    isCut = kept.length > MAX_CHARACTERS;
    if (isCut) kept = kept.slice(0, MAX_CHARACTERS);
  };
  return {
    console: { log: print, info: print, warn: print, error: print, debug: print, table: print, dir: print },
    text: () => (isCut ? `${kept}\n… (cut: more than ${MAX_CHARACTERS} characters were printed)` : kept),
  };
}
