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
