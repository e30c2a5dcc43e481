/** Core modules, made fit for the pool: limited memories and tables, and private exports of what a call can change. */

import { Cursor, step } from "./instructions.ts";
import { assemble, EXPORT, leb, type Section, sections } from "./module-sections.ts";
import { PRIVATE } from "./private-names.ts";

export const PAGE_BYTES = 65_536;

/** A table entry costs the host memory that the guest's limit does not count. */
export const MAX_TABLE_ENTRIES = 1_000_000;

export class UnfitModule extends Error {}

export interface FitModule {
  readonly bytes: Uint8Array;
  /** Why an instance cannot be put back after a call; empty where it can. */
  readonly keeps: readonly string[];
}

const TYPE = 1;
const IMPORT = 2;
const TABLE = 4;
const MEMORY = 5;
const GLOBAL = 6;
const CODE = 10;

const FUNCTION_TYPE = 0x60;

const FUNCTION_KIND = 0;
const TABLE_KIND = 1;
const MEMORY_KIND = 2;
const GLOBAL_KIND = 3;
const TAG_KIND = 4;

// Names end up inside generated JavaScript: nothing that could end a string or a line gets that far.
const UNSAFE_NAME = /[^\x20-\x7e]|['"`\\]/;

export interface Share {
  readonly pages: number;
  readonly tableEntries: number;
}

interface State {
  /** Memories that do not start empty. */
  readonly memories: number;
  readonly tables: number;
}

export function countState(module: Uint8Array): State {
  const all = sections(module);
  const open = (wanted: number): Cursor | undefined => {
    const section = all.find(({ id }) => id === wanted);
    return section && new Cursor(module, section.start);
  };
  const cursor = open(MEMORY);
  let memories = 0;
  for (let left = cursor?.u32() ?? 0; cursor && left > 0; left--)
    if (readLimits(cursor, "a memory").min > 0) memories++;
  return { memories, tables: open(TABLE)?.u32() ?? 0 };
}

export function fitModule(module: Uint8Array, share: Share): FitModule {
  const keeps = new Set<string>();
  const all = sections(module);
  const content = (id: number) => all.find((section) => section.id === id);
  refuseObjects(module, content(TYPE));
  const imported = readImports(module, content(IMPORT));
  const memories = boundMemories(module, content(MEMORY), share.pages);
  const tables = boundTables(module, content(TABLE), share.tableEntries);
  const globals = findGlobals(module, content(GLOBAL), keeps);
  findTraces(module, content(CODE), keeps);

  const added: number[][] = [];
  for (let index = 0; index < memories.count; index++) {
    added.push(exportEntry(`${PRIVATE}memory-${index}`, MEMORY_KIND, imported.memories + index));
  }
  for (const index of globals)
    added.push(exportEntry(`${PRIVATE}global-${index}`, GLOBAL_KIND, imported.globals + index));
  const replaced = new Map<number, Uint8Array>();
  if (memories.count > 0) replaced.set(MEMORY, memories.content);
  if (tables !== undefined) replaced.set(TABLE, tables);
  replaced.set(EXPORT, extendExports(module, content(EXPORT), added));
  return { bytes: assemble(module, all, replaced), keeps: [...keeps] };
}

/** One array larger than the host's heap ends the whole process, not only the worker. */
function refuseObjects(module: Uint8Array, section: Section | undefined): void {
  if (section === undefined) return;
  const cursor = new Cursor(module, section.start);
  for (let count = cursor.u32(); count > 0; count--) {
    if (cursor.byte() !== FUNCTION_TYPE)
      throw new UnfitModule(
        "a core module has garbage-collected types, whose objects no memory limit bounds; build it for linear memory",
      );
    for (let params = cursor.u32(); params > 0; params--) cursor.type();
    for (let results = cursor.u32(); results > 0; results--) cursor.type();
  }
}

function safeName(cursor: Cursor): string {
  const name = cursor.name();
  if (UNSAFE_NAME.test(name) || name.startsWith(PRIVATE))
    throw new UnfitModule(
      `a core module uses the name ${JSON.stringify(name.slice(0, 80))}, which is not allowed`,
    );
  return name;
}

interface Limits {
  readonly min: number;
  readonly max: number | undefined;
}

function readLimits(cursor: Cursor, what: string): Limits {
  const flags = cursor.byte();
  if (flags > 1)
    throw new UnfitModule(`${what} is shared, 64-bit or of a custom page size, which is not supported`);
  const min = cursor.u32();
  return { min, max: flags === 1 ? cursor.u32() : undefined };
}

function readImports(
  module: Uint8Array,
  section: Section | undefined,
): { memories: number; globals: number } {
  const counts = { memories: 0, globals: 0 };
  if (section === undefined) return counts;
  const cursor = new Cursor(module, section.start);
  for (let count = cursor.u32(); count > 0; count--) {
    safeName(cursor);
    safeName(cursor);
    const kind = cursor.byte();
    if (kind === FUNCTION_KIND) cursor.leb();
    else if (kind === TABLE_KIND) {
      cursor.type();
      readLimits(cursor, "an imported table");
    } else if (kind === MEMORY_KIND) {
      readLimits(cursor, "an imported memory");
      counts.memories++;
    } else if (kind === GLOBAL_KIND) {
      cursor.type();
      cursor.skip(1);
      counts.globals++;
    } else if (kind === TAG_KIND) {
      cursor.skip(1);
      cursor.leb();
    } else throw new UnfitModule(`a core module imports something of the unknown kind ${kind}`);
  }
  return counts;
}

function boundMemories(module: Uint8Array, section: Section | undefined, maxPages: number) {
  if (section === undefined) return { count: 0, content: new Uint8Array() };
  const cursor = new Cursor(module, section.start);
  const count = cursor.u32();
  const out = [...leb(count)];
  for (let left = count; left > 0; left--) {
    const { min, max } = readLimits(cursor, "a memory");
    if (min > maxPages) {
      const mib = (pages: number) => `${Math.ceil((pages * PAGE_BYTES) / 2 ** 20)} MiB`;
      throw new UnfitModule(`it needs ${mib(min)} of memory to start, and its limit is ${mib(maxPages)}`);
    }
    // Toolchains leave empty memories behind as placeholders; one of those takes no share of the limit.
    out.push(1, ...leb(min), ...leb(min === 0 ? 0 : Math.min(max ?? maxPages, maxPages)));
  }
  return { count, content: Uint8Array.from(out) };
}

function boundTables(
  module: Uint8Array,
  section: Section | undefined,
  maxEntries: number,
): Uint8Array | undefined {
  if (section === undefined) return undefined;
  const cursor = new Cursor(module, section.start);
  const count = cursor.u32();
  const out = [...leb(count)];
  for (let left = count; left > 0; left--) {
    if (module[cursor.at] === 0x40)
      throw new UnfitModule("a table has an initial value, which is not supported");
    const start = cursor.at;
    cursor.type();
    const type = module.subarray(start, cursor.at);
    const { min, max } = readLimits(cursor, "a table");
    if (min > maxEntries)
      throw new UnfitModule(`a table starts with ${min} entries, and its limit is ${maxEntries}`);
    out.push(...type, 1, ...leb(min), ...leb(Math.min(max ?? maxEntries, maxEntries)));
  }
  return Uint8Array.from(out);
}

const NUMBER_TYPES = new Set([0x7f, 0x7e, 0x7d, 0x7c]);

function findGlobals(module: Uint8Array, section: Section | undefined, keeps: Set<string>): number[] {
  if (section === undefined) return [];
  const cursor = new Cursor(module, section.start);
  const found: number[] = [];
  const count = cursor.u32();
  for (let index = 0; index < count; index++) {
    const type = cursor.type();
    const mutable = cursor.byte() === 1;
    skipExpression(cursor);
    if (!mutable) continue;
    if (NUMBER_TYPES.has(type)) found.push(index);
    else keeps.add("a global that holds a vector or a reference");
  }
  return found;
}

function skipExpression(cursor: Cursor): void {
  while (cursor.bytes[cursor.at] !== 0x0b) {
    if (step(cursor) !== "none")
      throw new UnfitModule("a global starts as something other than a plain constant");
  }
  cursor.skip(1);
}

function findTraces(module: Uint8Array, section: Section | undefined, keeps: Set<string>): void {
  if (section === undefined) return;
  const cursor = new Cursor(module, section.start);
  for (let bodies = cursor.u32(); bodies > 0; bodies--) {
    const size = cursor.u32();
    const end = cursor.at + size;
    for (let groups = cursor.u32(); groups > 0; groups--) {
      cursor.leb();
      cursor.type();
    }
    while (cursor.at < end) {
      const trace = step(cursor);
      if (trace === "none") continue;
      if (trace === "table") keeps.add("a table that changes");
      else if (trace === "drop") keeps.add("segments that can be dropped");
      else {
        keeps.add(
          trace === "heap" ? "objects on the host's heap" : "instructions this version does not know",
        );
        return;
      }
    }
    if (cursor.at !== end) {
      keeps.add("instructions this version does not know");
      return;
    }
  }
}

function extendExports(module: Uint8Array, section: Section | undefined, added: number[][]): Uint8Array {
  let count = 0;
  let entries = new Uint8Array();
  if (section !== undefined) {
    const cursor = new Cursor(module, section.start);
    count = cursor.u32();
    entries = module.slice(cursor.at, section.end);
    for (let left = count; left > 0; left--) {
      safeName(cursor);
      cursor.skip(1);
      cursor.leb();
    }
  }
  return Uint8Array.from([...leb(count + added.length), ...entries, ...added.flat()]);
}

function exportEntry(name: string, kind: number, index: number): number[] {
  return [name.length, ...new TextEncoder().encode(name), kind, ...leb(index)];
}
