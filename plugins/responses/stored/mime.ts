/** What kind of file a stranger says it is: kept only as far as it can do no harm. */
import { mimeOfName, sniff, UNKNOWN } from "../../../kernel/kit.ts";

const MIME = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$/;

/** What the bytes show comes first, then what the caller says, then the name: clients often say nothing. */
export function mimeOf(bytes: Uint8Array, declared: string, name: string): string {
  const shown = sniff(bytes);
  if (shown !== undefined) return shown;
  const said = (declared.split(";")[0] ?? "").trim().toLowerCase();
  return said !== UNKNOWN && MIME.test(said) ? said : mimeOfName(name);
}
