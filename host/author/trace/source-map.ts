/** The source map of a script, in a custom section of its component. Only the author's commands read it. */
import { SourceMap } from "node:module";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { SCRIPT } from "../../calls/crash.ts";
import { customSection, customSections } from "../../wasm/module-sections.ts";

export type Origin = (line: number, column: number) => string | undefined;

const SECTION = "postern:source-map";
/** Eight times the map of a large npm package; reading one takes up to a hundred times its size. */
const MAX_BYTES = 4 * 2 ** 20;
const MAX_NAME = 200;

export function embedMap(component: Uint8Array, map: string): Uint8Array {
  return Buffer.concat([component, customSection(SECTION, brotliCompressSync(map))]);
}

/** Undefined for a component without one, or with one that cannot be read. */
export function readMap(component: Uint8Array): Origin | undefined {
  try {
    const section = [...customSections(component, SECTION)].at(-1);
    if (section === undefined) return undefined;
    const packed = component.subarray(section.start, section.end);
    return originIn(brotliDecompressSync(packed, { maxOutputLength: MAX_BYTES }).toString());
  } catch {
    return undefined;
  }
}

/** Sources are named as the map names them: by their paths from the project's folder. */
export function originIn(map: string): Origin {
  const parsed = new SourceMap(JSON.parse(map));
  return (line, column) => {
    const entry = parsed.findEntry(line - 1, column - 1);
    if (!("originalSource" in entry)) return undefined;
    // Nothing that a terminal would obey.
    const source = entry.originalSource.replaceAll(/\p{Cc}/gu, "").slice(0, MAX_NAME);
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  };
}

const PLACE = new RegExp(`\\b${SCRIPT.replace(".", "\\.")}:(\\d{1,9}):(\\d{1,9})\\b`, "g");

export function hasPlaces(text: string): boolean {
  return text.includes(`${SCRIPT}:`);
}

export function locate(text: string, origin: Origin | undefined): string {
  if (origin === undefined) return text;
  return text.replaceAll(PLACE, (place, line, column) => origin(Number(line), Number(column)) ?? place);
}
