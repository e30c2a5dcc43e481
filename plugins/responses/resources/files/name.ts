/** What a stranger calls a file, and what kind it says it is: kept only as far as it can do no harm. */
import { sniff } from "../../../../kernel/vocabulary/file-type.ts";
import { mimeOfName, UNKNOWN } from "../../file-kinds.ts";

const LONGEST_BYTES = 255;

// Control characters, marks that turn the direction of a text, halves of characters, breaks of lines.
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** The last part of a path, without what cannot be shown. */
export function cleanFileName(given: string): string {
  const name = (given.split(/[/\\]/).at(-1) ?? "").replaceAll(UNSHOWABLE, "").trim();
  return /^\.*$/.test(name) ? "file" : cut(name);
}

function cut(name: string): string {
  let bytes = 0;
  let kept = "";
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > LONGEST_BYTES) break;
    kept += character;
  }
  return kept;
}

const MIME = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$/;

/** What the bytes show comes first, then what the caller says, then the name: clients often say nothing. */
export function mimeOf(bytes: Uint8Array, declared: string, name: string): string {
  const shown = sniff(bytes);
  if (shown !== undefined) return shown;
  const said = (declared.split(";")[0] ?? "").trim().toLowerCase();
  return said !== UNKNOWN && MIME.test(said) ? said : mimeOfName(name);
}
