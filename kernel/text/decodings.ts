/** Undoes escapes, base64 and hex in content, one layer at a time, so that the work grows with the content alone. */

/** Encoding something three times is as cheap as once. */
const MAX_LAYERS = 3;

const ESCAPE =
  /%([0-9a-f]{2})|\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{0*([0-9a-f]{1,6})\}|&#x0*([0-9a-f]{1,6});?|&#0*([0-9]{1,7});?|&([a-z]{2,7});/gi;
/** Runs that are long enough to hold something, and too long for a word. */
const BASE64 = /[A-Za-z0-9+/_-]{16,}/g;
const HEX = /(?:[0-9a-f]{2}){8,}/gi;

const NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  `amp& lt< gt> quot" apos' sol/ bsol\\ plus+ equals= colon: semi; period. comma, lowbar_ num# excl! quest? commat@ dollar$
   percnt% ast* lpar( rpar) lsqb[ rsqb] lcub{ rcub} verbar| grave\` hat^ nbsp-`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, -1), entry.slice(-1)]),
);

/** The content as it is, then with one layer of encoding after the other undone. */
export function readings(content: Buffer): readonly Buffer[] {
  const found = [content];
  let layer = [content];
  for (let depth = 0; depth < MAX_LAYERS && layer.length > 0; depth++) {
    layer = layer.flatMap(undo);
    found.push(...layer);
  }
  return found;
}

function undo(bytes: Buffer): Buffer[] {
  // Latin-1 has one character for each byte, and the content may be anything.
  const text = bytes.toString("latin1");
  const unescaped = text.replace(ESCAPE, readEscape);
  const runs = [
    ...(text.match(HEX) ?? []).map((run) => Buffer.from(run, "hex")),
    ...(text.match(BASE64) ?? []).map((run) => Buffer.from(run, "base64")),
  ];
  return [
    ...(unescaped === text ? [] : [Buffer.from(unescaped, "latin1")]),
    ...(runs.length === 0 ? [] : [Buffer.concat(runs.flatMap((run) => [run, BREAK]))]),
  ];
}

const BREAK = Buffer.from("\n");

function readEscape(written: string, ...groups: unknown[]): string {
  const [percent, x, u, braced, hex, decimal, name] = groups as (string | undefined)[];
  if (name !== undefined) return NAMES[name.toLowerCase()] ?? written;
  const byte = percent ?? x;
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  const digits = u ?? braced ?? hex;
  const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
  if (code < 0x80) return String.fromCharCode(code);
  return code > 0x10ffff ? written : Buffer.from(String.fromCodePoint(code)).toString("latin1");
}
