import { gzipSync } from "node:zlib";

/** Every form in which a secret may turn up, each as somebody else's code would write it. */
export const SECRET_FORMS: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  "in lower case": (value) => value.toLowerCase(),
  "in upper case": (value) => value.toUpperCase(),
  "URL-encoded": encodeURIComponent,
  "URL-encoded in lower case": (value) => inLowerCase(encodeURIComponent(value)),
  "as a URL leaves it": encodeURI,
  "form-encoded": formEncoded,
  "form-encoded in lower case": (value) => inLowerCase(formEncoded(value)),
  "in a URL's path": (value) => new URL(`https://h/${encodeURIComponent(value)}`).pathname.slice(1),
  "JSON-escaped": (value) => inJson(value),
  "JSON-escaped twice": (value) => inJson(inJson(value)),
  "JSON-escaped with slashes": (value) => inJson(value).replaceAll("/", "\\/"),
  "JSON-escaped to ASCII": (value) =>
    inJson(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  "HTML-escaped": (value) =>
    value
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
      .replaceAll("'", "&#39;"),
  hex: (value) => Buffer.from(value).toString("hex"),
  "hex in upper case": (value) => Buffer.from(value).toString("hex").toUpperCase(),
  base64: (value) => Buffer.from(value).toString("base64"),
  base64url: (value) => Buffer.from(value).toString("base64url"),
  "base64 after one byte": (value) => Buffer.from(`a${value}`).toString("base64"),
  "base64 after two bytes": (value) => Buffer.from(`ab${value}`).toString("base64"),
  "base64 of a pair": (value) => Buffer.from(`me:${value}`).toString("base64"),
  "base64url between others": (value) => Buffer.from(`a${value}b`).toString("base64url"),
};

/** Holds a character for every rule above to act on. */
export const FORMED_SECRET = "s3cr3t/+value with=everything&\"quoted'<é>~?";

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function inLowerCase(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function formEncoded(value: string): string {
  return new URLSearchParams({ v: value }).toString().slice(2);
}

const spelled = (value: string, write: (code: number) => string) =>
  [...value].map((char) => write(char.codePointAt(0) ?? 0)).join("");

/** Ways to hide a secret from whoever looks for it as it is. */
export const DISGUISES: Readonly<Record<string, (value: string) => string | Buffer>> = {
  reversed: (value) => [...value].reverse().join(""),
  "spaced out": (value) => [...value].join(" "),
  "as a list of characters": (value) => JSON.stringify([...value]),
  "cut into lines": (value) => (value.match(/.{1,5}/gs) ?? []).join("\r\n  "),
  "cut into fields": (value) => JSON.stringify((value.match(/.{1,7}/gs) ?? []).map((part) => [part])),
  "as one half": (value) => value.slice(0, Math.ceil(value.length / 2) + 3),
  "as the other half": (value) => value.slice(Math.floor(value.length / 2) - 3),
  "URL-encoded three times": (value) =>
    spelled(value, (code) => `%2525${code.toString(16).padStart(2, "0")}`),
  "in \\u escapes": (value) => spelled(value, (code) => `\\u${code.toString(16).padStart(4, "0")}`),
  "in \\u escapes of escapes": (value) =>
    spelled(value, (code) => `\\u005cu${code.toString(16).padStart(4, "0")}`),
  "in \\x escapes": (value) => spelled(value, (code) => `\\x${code.toString(16).padStart(2, "0")}`),
  "in decimal entities": (value) => spelled(value, (code) => `&#${code};`),
  "in hexadecimal entities": (value) => spelled(value, (code) => `&#x${code.toString(16)};`),
  "in UTF-16": (value) => Buffer.from(value, "utf16le"),
  "in UTF-16, the other way round": (value) => Buffer.from(value, "utf16le").swap16(),
  "in base64 twice": (value) => base64(base64(value)),
  "in hex of base64": (value) => Buffer.from(base64(value)).toString("hex"),
  "in base64 in lines": (value) => (base64(value).match(/.{1,8}/g) ?? []).join("\n"),
  "in spaced hex": (value) => (Buffer.from(value).toString("hex").match(/../g) ?? []).join(":"),
  "in gzip": (value) => gzipSync(value),
  "in gzip after other bytes": (value) => Buffer.concat([Buffer.from("PREFIX"), gzipSync(value)]),
  "in gzip with a wrong check": (value) => Buffer.concat([gzipSync(value).subarray(0, -8), Buffer.alloc(8)]),
  "in gzip in base64": (value) => JSON.stringify({ file: gzipSync(value).toString("base64") }),
};

function base64(value: string): string {
  return Buffer.from(value).toString("base64");
}
