/** A calendar's text as its lines. What is not edited stays as it was, byte for byte, folded or not. */
import { Refusal } from "./refusal.ts";

/** One property with all of its folded lines, as it stands in the text, its line end included. */
export interface Line {
  readonly raw: string;
  /** In capitals. */
  readonly name: string;
  /** From the name's end to the colon: `;TZID=Europe/Berlin`. */
  readonly params: string;
  readonly value: string;
}

const MAX_LINES = 20_000;

export function readLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let at = 0;
  while (at < text.length) {
    let end = text.indexOf("\n", at);
    // A line that begins with a blank belongs to the one before it.
    while (end !== -1 && (text[end + 1] === " " || text[end + 1] === "\t")) end = text.indexOf("\n", end + 1);
    const raw = end === -1 ? text.slice(at) : text.slice(at, end + 1);
    at += raw.length;
    if (lines.push(toLine(raw)) > MAX_LINES)
      throw new Refusal("The event's file has too many lines to edit.");
  }
  return lines;
}

export const textOf = (lines: readonly Line[]): string => lines.map(({ raw }) => raw).join("");

function toLine(raw: string): Line {
  const text = raw.replace(/\r?\n[ \t]/g, "").replace(/\r?\n$/, "");
  let isQuoted = false;
  let colon = 0;
  for (; colon < text.length; colon++) {
    if (text[colon] === '"') isQuoted = !isQuoted;
    if (text[colon] === ":" && !isQuoted) break;
  }
  const head = text.slice(0, colon);
  const semicolon = head.indexOf(";");
  const name = semicolon === -1 ? head : head.slice(0, semicolon);
  return {
    raw,
    name: name.toUpperCase(),
    params: semicolon === -1 ? "" : head.slice(semicolon),
    value: text.slice(colon + 1),
  };
}

/** A line of ours, folded after 73 characters. */
export function makeLine(name: string, params: string, value: string): Line {
  const folded = [...`${name}${params}:${value}`].reduce(
    ({ text, bytes }, character) => {
      const size = new TextEncoder().encode(character).length;
      return bytes + size > 73
        ? { text: `${text}\r\n ${character}`, bytes: size + 1 }
        : { text: text + character, bytes: bytes + size };
    },
    { text: "", bytes: 0 },
  );
  return toLine(`${folded.text}\r\n`);
}

export const escapeText = (text: string): string =>
  text
    .replace(/[\\;,]/g, "\\$&")
    .replace(/\r?\n/g, "\\n")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the file
    .replace(/[\u0000-\u001f\u007f]/g, "");

export interface Block {
  readonly begin: number;
  /** The index after its END. */
  readonly end: number;
}

/** The components of this name, not those inside of others. */
export function blocksOf(lines: readonly Line[], name: string): readonly Block[] {
  const blocks: Block[] = [];
  const open: { readonly name: string; readonly begin: number }[] = [];
  lines.forEach((line, at) => {
    const kind = line.value.trim().toUpperCase();
    if (line.name === "BEGIN") open.push({ name: kind, begin: at });
    if (line.name !== "END") return;
    const last = open.pop();
    if (last?.name !== kind)
      throw new Refusal("The event's file is broken: one of its components is not closed.");
    if (kind === name) blocks.push({ begin: last.begin, end: at + 1 });
  });
  if (open.length > 0) throw new Refusal("The event's file is broken: one of its components is not closed.");
  return blocks;
}

/** Properties of the block itself, not of an alarm inside it, as indexes of lines. */
export function propertiesOf(lines: readonly Line[], { begin, end }: Block, name: string): readonly number[] {
  const found: number[] = [];
  let depth = 0;
  for (let at = begin + 1; at < end - 1; at++) {
    const line = lines[at];
    if (line?.name === "END") depth--;
    if (depth === 0 && line?.name === name) found.push(at);
    if (line?.name === "BEGIN") depth++;
  }
  return found;
}
