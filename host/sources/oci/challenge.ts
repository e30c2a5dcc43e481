/** What a registry asks for before it answers: the `WWW-Authenticate` header, read as what a stranger wrote. */

export type Challenge =
  | { readonly scheme: "basic" }
  | {
      readonly scheme: "bearer";
      readonly realm: string;
      readonly service?: string | undefined;
      readonly scope?: string | undefined;
    };

const MAX_CHARS = 4096;
const NAME = /[A-Za-z0-9_-]/;

/** The first challenge that can be met; undefined where there is none. */
export function readChallenge(header: string | null): Challenge | undefined {
  if (header === null || header.length > MAX_CHARS) return undefined;
  const space = header.indexOf(" ");
  const scheme = (space === -1 ? header : header.slice(0, space)).toLowerCase();
  if (scheme === "basic") return { scheme };
  if (scheme !== "bearer" || space === -1) return undefined;
  const params = readParams(header.slice(space + 1));
  const realm = params.get("realm");
  if (realm === undefined) return undefined;
  return { scheme, realm, service: params.get("service"), scope: params.get("scope") };
}

/** `name="value"` or `name=value`, separated by commas; one pass, from left to right. */
function readParams(text: string): ReadonlyMap<string, string> {
  const params = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    let name = "";
    while (at < text.length && !NAME.test(text.charAt(at))) at++;
    while (at < text.length && NAME.test(text.charAt(at))) name += text.charAt(at++);
    if (text.charAt(at) !== "=") break;
    at++;
    let value = "";
    if (text.charAt(at) === '"') {
      for (at++; at < text.length && text.charAt(at) !== '"'; at++) {
        if (text.charAt(at) === "\\") at++;
        value += text.charAt(at);
      }
      at++;
    } else while (at < text.length && text.charAt(at) !== ",") value += text.charAt(at++);
    if (!params.has(name.toLowerCase())) params.set(name.toLowerCase(), value.trim());
  }
  return params;
}
