/** Reads off a component which of the glue's own bookkeeping its code can see. */
import { Cursor } from "./instructions.ts";

const COMPONENT = 4;
const CANON = 8;

/**
 * True where the component only lifts, lowers and drops: then all the glue keeps for it are handles of
 * resources. False for anything else, such as resources of its own or asynchronous tasks.
 */
export function isPlain(component: Uint8Array, start = 0, end = component.length): boolean {
  const cursor = new Cursor(component, start + 8);
  while (cursor.at < end) {
    const id = cursor.byte();
    const size = cursor.u32();
    const from = cursor.at;
    cursor.skip(size);
    if (id === COMPONENT && !isPlain(component, from, cursor.at)) return false;
    if (id === CANON && !isPlainCanon(new Cursor(component, from))) return false;
  }
  return true;
}

function isPlainCanon(cursor: Cursor): boolean {
  for (let count = cursor.u32(); count > 0; count--) {
    const kind = cursor.byte();
    if (kind === 0x03) cursor.leb();
    else if (kind === 0x00 || kind === 0x01) {
      cursor.skip(1);
      cursor.leb();
      if (!hasPlainOptions(cursor)) return false;
      if (kind === 0x00) cursor.leb();
    } else return false;
  }
  return true;
}

function hasPlainOptions(cursor: Cursor): boolean {
  for (let count = cursor.u32(); count > 0; count--) {
    const option = cursor.byte();
    // String encodings stand alone; memory, realloc and post-return name an index; the rest is asynchronous.
    if (option > 5) return false;
    if (option > 2) cursor.leb();
  }
  return true;
}
