/** Header lines as a stranger wrote them, read without trust. Everything here takes time in proportion to its input. */

/** `key` is the name in lower case, `line` the whole line with its folds. The first is the topmost. */
export interface HeaderLine {
  readonly key: string;
  readonly line: string;
}

export interface Sender {
  readonly address: string;
  readonly domain: string;
}

const ADDRESS = /^[a-z\d.!#$%&'*+/=?^_`{|}~-]{1,64}@([a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,10})$/;

/** The values of a header, unfolded, topmost first. */
export function valuesOf(lines: readonly HeaderLine[], key: string): readonly string[] {
  return lines.filter((line) => line.key === key).map(textIn);
}

export function textIn({ line }: HeaderLine): string {
  return line
    .slice(line.indexOf(":") + 1)
    .replace(/[\r\n]+/g, " ")
    .trim();
}

/** Removes comments, and quoted texts unless kept; in those, what has a meaning outside of quotes is replaced. */
export function withoutComments(text: string, keepsQuoted = true): string {
  const kept: string[] = [];
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const isEscaped = char === "\\" && (isQuoted || depth > 0);
    if (char === '"' && depth === 0) isQuoted = !isQuoted;
    else if (isQuoted || depth > 0) {
      if (!isQuoted && char === "(") depth++;
      else if (!isQuoted && char === ")") depth--;
      else if (isQuoted && keepsQuoted)
        kept.push((isEscaped ? text.charAt(at + 1) : char).replace(/[\s;=]/, "_"));
      if (isEscaped) at++;
    } else if (char === "(") depth++;
    else kept.push(char);
  }
  return kept.join("");
}

/** The one address in a mail's one From, in lower case; undefined where two readers could see different ones. */
export function senderOf(lines: readonly HeaderLine[]): Sender | undefined {
  const [from, another] = valuesOf(lines, "from");
  if (from === undefined || another !== undefined) return undefined;
  const bare = withoutComments(from, false).trim();
  const opened = bare.indexOf("<");
  const inside = opened < 0 ? bare : bare.slice(opened + 1, -1);
  const before = opened < 0 ? "" : bare.slice(0, opened);
  if ((opened >= 0 && !bare.endsWith(">")) || /[@,;:<>]/.test(before)) return undefined;
  // Only letters of ASCII: others can turn into them in lower case.
  const [address, domain] = /^[\x21-\x7e]+$/.test(inside) ? (ADDRESS.exec(inside.toLowerCase()) ?? []) : [];
  return address === undefined || domain === undefined ? undefined : { address, domain };
}

/** The message ids in a header, each with its angle brackets. */
export function idsIn(value: string): readonly string[] {
  return value.match(/<[^<>\s]{1,500}>/g) ?? [];
}
