/**
 * What the code returned, as plain data of a bounded size. The code may return anything: cycles, endless proxies, getters that
 * throw, numbers that JSON does not have. What it did to the globals does not matter here: they were taken before it ran.
 */
const { stringify } = JSON;
const { isArray } = Array;
const { ownKeys, getPrototypeOf } = Reflect;

const MAX_VALUE_CHARACTERS = 100_000;
const MAX_DEPTH = 40;
/** Far more than fits: the walk ends here where a value has no end. */
const MAX_NODES = 60_000;

interface Walk {
  nodes: number;
  characters: number;
  isCut: boolean;
  readonly above: unknown[];
  /** A shorter text for one that is known. */
  named(text: string): string;
}

/** The value as JSON has it; a text that says so where it is too large. */
export function toPlain(value: unknown, named = (text: string) => text): unknown {
  const walk = fresh(named);
  const plain = visit(value, walk) ?? null;
  const json = stringify(plain) ?? "null";
  if (!walk.isCut && json.length <= MAX_VALUE_CHARACTERS) return plain;
  return `${json.slice(0, MAX_VALUE_CHARACTERS)}… (cut: the value is too large; return less of it, or write it to a file below /output)`;
}

/** One line for what is printed. */
export function describe(value: unknown): string {
  if (typeof value === "symbol" || typeof value === "function") return String(visit(value, fresh()));
  if (value === undefined) return "undefined";
  const plain = visit(value, fresh());
  return typeof plain === "string" ? plain : (stringify(plain) ?? "null");
}

const fresh = (named = (text: string) => text): Walk => ({
  ...{ nodes: 0, characters: 0, isCut: false, named },
  above: [],
});

function visit(value: unknown, walk: Walk): unknown {
  if (++walk.nodes > MAX_NODES || walk.characters > MAX_VALUE_CHARACTERS * 2) {
    walk.isCut = true;
    return "…";
  }
  switch (typeof value) {
    case "string":
      return text(walk.named(value), walk);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return `${value}`;
    case "boolean":
    case "undefined":
      return value;
    case "symbol":
      return "[symbol]";
    case "function":
      return "[function]";
    default:
      return value === null ? null : guarded(value as object, walk);
  }
}

function text(value: string, walk: Walk): string {
  walk.characters += value.length;
  if (value.length <= MAX_VALUE_CHARACTERS * 2) return value;
  walk.isCut = true;
  return value.slice(0, MAX_VALUE_CHARACTERS * 2);
}

/** A getter, a proxy or a `toJSON` of the code's may throw anything. */
function guarded(value: object, walk: Walk): unknown {
  if (walk.above.includes(value)) return "[circular]";
  if (walk.above.length >= MAX_DEPTH) {
    walk.isCut = true;
    return "…";
  }
  walk.above.push(value);
  try {
    return object(value, walk);
  } catch (error) {
    return `[could not be read: ${messageOf(error)}]`;
  } finally {
    walk.above.pop();
  }
}

function object(value: object, walk: Walk): unknown {
  if (isArray(value)) return list(value, value.length, (at) => value[at], walk);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Map) return map(value, walk);
  if (value instanceof Set) return list(value, value.size, iterated(value), walk);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof RegExp) return String(value);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const items = value as Uint8Array;
    return list(items, items.length, (at) => items[at], walk);
  }
  if (value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Promise) return "[promise: await it]";
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return visit(toJSON.call(value, ""), walk);
  return record(value, walk);
}

function iterated(values: Iterable<unknown>): () => unknown {
  const iterator = values[Symbol.iterator]();
  return () => iterator.next().value;
}

function list(_: object, length: number, item: (at: number) => unknown, walk: Walk): unknown[] {
  const items: unknown[] = [];
  for (let at = 0; at < length && !walk.isCut; at++) items.push(visit(item(at), walk) ?? null);
  return items;
}

/** An object where its keys can be names, else a list of pairs. */
function map(value: Map<unknown, unknown>, walk: Walk): unknown {
  const entries = [...value];
  const isNamed = entries.every(([key]) => typeof key === "string" || typeof key === "number");
  if (!isNamed) return list(entries, entries.length, (at) => entries[at], walk);
  const named: Record<string, unknown> = {};
  for (const [key, item] of entries) put(named, String(key), item, walk);
  return named;
}

function record(value: object, walk: Walk): unknown {
  const named: Record<string, unknown> = {};
  for (const key of ownKeys(value)) {
    if (walk.isCut) break;
    if (typeof key !== "string" || !isShown(value, key)) continue;
    let item: unknown;
    try {
      item = (value as Record<string, unknown>)[key];
    } catch (error) {
      item = `[could not be read: ${messageOf(error)}]`;
    }
    put(named, key, item, walk);
  }
  const name = getPrototypeOf(value) === null ? "" : nameOf(value);
  return ownKeys(named).length === 0 && name !== "" && name !== "Object" ? `[${name}]` : named;
}

const isShown = (value: object, key: string): boolean =>
  Reflect.getOwnPropertyDescriptor(value, key)?.enumerable ?? false;

function put(named: Record<string, unknown>, key: string, item: unknown, walk: Walk): void {
  const plain = visit(item, walk);
  walk.characters += key.length;
  // Assigning would call the setter of "__proto__".
  if (plain !== undefined)
    Object.defineProperty(named, key, { value: plain, enumerable: true, configurable: true, writable: true });
}

function nameOf(value: object): string {
  const { constructor: made } = value as { constructor?: { name?: unknown } };
  return typeof made?.name === "string" ? made.name.slice(0, 100) : "";
}

export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return `${error.name}: ${error.message}`.slice(0, 2000);
    // So says the engine, without an error around it.
    if (error === "out of memory") return "The code ran out of memory.";
    return describe(error).slice(0, 2000);
  } catch {
    return "something that cannot be shown";
  }
}
