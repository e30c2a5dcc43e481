/** Web addresses, without the `URL` class, which the engine of this component does not have. */

interface Parts {
  /** Scheme and host: "https://example.org". */
  readonly origin: string;
  readonly path: string;
  readonly query: string;
}

const ABSOLUTE = /^(https?):\/\/([^/?#\\\s]+)([^?#]*)(\?[^#]*)?(#.*)?$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** The absolute address that a link leads to; undefined where it leads to no page. */
export function resolve(link: string, base: string): string | undefined {
  const written = withoutBlanks(link);
  if (written === "" || written.startsWith("#")) return undefined;
  const from = read(base);
  if (from === undefined) return undefined;
  if (written.startsWith("//"))
    return absolute(`${from.origin.slice(0, from.origin.indexOf(":"))}:${written}`);
  if (SCHEME.test(written)) return absolute(written);
  if (written.startsWith("?")) return from.origin + from.path + written;
  const end = written.search(/[?#]/);
  const path = end === -1 ? written : written.slice(0, end);
  const rest = end === -1 ? "" : written.slice(end);
  const whole = path.startsWith("/") ? path : from.path.slice(0, from.path.lastIndexOf("/") + 1) + path;
  return from.origin + withoutDots(whole) + rest;
}

/** An address as somebody typed it, "example.org/x" included; undefined if it is none of the web. */
export function complete(typed: string): string | undefined {
  const written = typed.trim();
  const given =
    SCHEME.test(written) && !/^[^/]+:\d+(\/|$)/.test(written)
      ? written
      : `https://${written.replace(/^\/\//, "")}`;
  return absolute(given);
}

export function hostOf(address: string): string {
  return (read(address)?.origin ?? address).replace(/^https?:\/\//i, "");
}

function absolute(address: string): string | undefined {
  const parts = read(address);
  if (parts === undefined) return undefined;
  const fragment = address.indexOf("#");
  return parts.origin + parts.path + parts.query + (fragment === -1 ? "" : address.slice(fragment));
}

function read(address: string): Parts | undefined {
  const [, scheme = "", host = "", path = "", query = ""] = ABSOLUTE.exec(withoutBlanks(address)) ?? [];
  if (host === "") return undefined;
  return { origin: `${scheme.toLowerCase()}://${host.toLowerCase()}`, path: withoutDots(path || "/"), query };
}

/** Line breaks within an address do not count, and blanks in it are written out. */
function withoutBlanks(address: string): string {
  return address
    .trim()
    .replace(/[\t\n\r]/g, "")
    .replaceAll(" ", "%20");
}

function withoutDots(path: string): string {
  if (!path.includes("/.")) return path;
  const kept: string[] = [];
  const segments = path.split("/");
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1;
    if (segment === "..") {
      if (kept.length > 1) kept.pop();
    } else if (segment !== ".") kept.push(segment);
    if (isLast && (segment === "." || segment === "..")) kept.push("");
  }
  return kept.join("/");
}
