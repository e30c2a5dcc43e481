/**
 * Finds known secret values in what leaves for a tool's server or comes back from it, in the forms in which
 * values travel. One pass over the bytes whatever the number of secrets: an answer may have ten megabytes.
 */

// Shorter values would blank out ordinary words, and are no secret.
const SHORTEST = 6;
const REPLACEMENT = Buffer.from("[secret]");

export interface Leaks {
  /** True where the bytes or text hold a known value, percent-encoded or escaped throughout included. */
  finds(content: Uint8Array | string): boolean;
  /** The bytes with every known value replaced; the same array where there is none. */
  scrub(bytes: Uint8Array): Uint8Array;
  scrubText(text: string): string;
}

export function createLeaks(values: readonly string[]): Leaks {
  const forms = [...new Set(values.filter((value) => value.length >= SHORTEST).flatMap(formsOf))];
  const table = indexForms(forms.map((form) => Buffer.from(form)).filter((form) => form.length >= SHORTEST));

  function scrub(bytes: Uint8Array): Uint8Array {
    const pieces: Uint8Array[] = [];
    let copied = 0;
    for (let found = table.search(bytes, 0); found !== undefined; found = table.search(bytes, found.end)) {
      pieces.push(bytes.subarray(copied, found.start), REPLACEMENT);
      copied = found.end;
    }
    return copied === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(copied)]);
  }

  return {
    finds: (content) =>
      readings(Buffer.from(content)).some((reading) => table.search(reading, 0) !== undefined),
    scrub,
    scrubText: (text) => Buffer.from(scrub(Buffer.from(text))).toString(),
  };
}

/** The content as it is, and as a reader would see it who undoes percent-encoding or `\uXXXX`. */
function readings(bytes: Buffer): Buffer[] {
  const found = [bytes];
  let text = bytes.toString("latin1");
  // Encoding twice or thrice is as cheap as once.
  for (let round = 0; round < 3 && /%[0-9a-f]{2}/i.test(text); round++) {
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    found.push(Buffer.from(text, "latin1"));
  }
  const plain = bytes.toString("latin1");
  if (plain.includes("\\u")) {
    const decoded = plain.replace(/\\u00([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    found.push(Buffer.from(decoded, "latin1"));
  }
  return found;
}

function formsOf(given: string): string[] {
  const value = given.toWellFormed();
  const encoded = encodeURIComponent(value);
  const json = JSON.stringify(value).slice(1, -1);
  const bytes = Buffer.from(value);
  return [
    value,
    // As a host name and a method carry it.
    value.toLowerCase(),
    value.toUpperCase(),
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    encodeURI(value),
    encodePathValue(value),
    new URLSearchParams({ v: value }).toString().slice(2),
    json,
    json.replaceAll("/", "\\/"),
    json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    escapeHtml(value),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => base64Within(bytes, offset)),
  ];
}

/** A value inside one path segment: what may stand there as it is, stays. */
export function encodePathValue(value: string): string {
  return encodeURIComponent(value).replace(/%(3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}

function escapeHtml(value: string): string {
  const names: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return value.replace(/[&<>"']/g, (char) => names[char] ?? char);
}

/** The base64 characters that depend on the value alone when it begins `offset` bytes into a group of three. */
function base64Within(bytes: Buffer, offset: number): string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replaceAll("=", "");
  const start = offset === 0 ? 0 : offset + 1;
  const end = (offset + bytes.length) % 3 === 0 ? text.length : text.length - 1;
  const core = text.slice(start, end);
  return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
}

interface Table {
  /** The first match at or after a position; of several at one place the longest. */
  search(bytes: Uint8Array, from: number): { readonly start: number; readonly end: number } | undefined;
}

/** Keyed by the first four bytes, behind a bitmap that turns nearly every position away at once. */
function indexForms(forms: readonly Buffer[]): Table {
  const byHead = new Map<number, Buffer[]>();
  const bitmap = new Uint8Array(1 << 16);
  const slot = (head: number) => Math.imul(head, 0x9e3779b1) >>> 16;
  for (const form of [...forms].sort((a, b) => b.length - a.length)) {
    const head = form.readInt32BE(0);
    byHead.set(head, [...(byHead.get(head) ?? []), form]);
    bitmap[slot(head)] = 1;
  }
  return {
    search(bytes, from) {
      if (forms.length === 0 || bytes.length - from < SHORTEST) return undefined;
      let head = 0;
      for (let next = from; next < bytes.length; next++) {
        head = (head << 8) | (bytes[next] as number);
        const start = next - 3;
        if (start < from || bitmap[slot(head)] === 0) continue;
        for (const form of byHead.get(head) ?? []) {
          const end = start + form.length;
          if (end <= bytes.length && form.equals(bytes.subarray(start, end))) return { start, end };
        }
      }
      return undefined;
    },
  };
}
