/** The forms in which a secret value travels: as it is, and as URLs, JSON, HTML, hex and base64 write it. */
import { escapeHtml } from "../text/html.ts";

/** Shorter values would blank out ordinary words, so they are not looked for at all; commands that store one say so. */
export const SHORTEST = 6;

export function canBeHidden(value: string): boolean {
  return value.length >= SHORTEST;
}

/** Every form of every value that can be hidden, once each. */
export function formsOf(values: Iterable<string>): readonly Buffer[] {
  const forms = new Set<string>();
  for (const value of values) {
    if (!canBeHidden(value)) continue;
    for (const form of write(value.toWellFormed())) {
      // Each of them may stand inside JSON, and that inside a log line, which is JSON too.
      forms
        .add(form)
        .add(escapeJson(form))
        .add(escapeJson(escapeJson(form)));
    }
  }
  return [...forms].map((form) => Buffer.from(form)).filter(({ length }) => length >= SHORTEST);
}

function write(value: string): string[] {
  const json = escapeJson(value);
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const encoded = [
    encodeURIComponent(value),
    encodeURI(value),
    encodePathValue(value),
    new URLSearchParams({ v: value }).toString().slice(2),
  ];
  return [
    value,
    // A host name and a method carry it in this form.
    value.toLowerCase(),
    value.toUpperCase(),
    ...encoded,
    ...encoded.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
    json,
    json.replaceAll("/", "\\/"),
    json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    escapeHtml(value),
    hex,
    hex.toUpperCase(),
    // These include the last characters, which belong to the value only when nothing follows it.
    bytes.toString("base64"),
    bytes.toString("base64url"),
    ...[0, 1, 2].flatMap((offset) => {
      const within = base64Within(bytes, offset);
      return [within, within.replaceAll("-", "+").replaceAll("_", "/")];
    }),
  ];
}

/** A value inside one path segment: what may stand there as it is, stays. */
export function encodePathValue(value: string): string {
  return encodeURIComponent(value).replace(/%(3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}

function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** Returns the base64 of a value that is the same whatever follows it, where it begins `offset` bytes into a group of three. */
export function base64Within(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64url");
  const end = (offset + bytes.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice(offset === 0 ? 0 : offset + 1, end);
}
