/**
 * Core modules, rewritten so that they mark what they write: each gets a memory of its own that no code of the guest
 * can name, with a byte for every page. Restoring an instance then takes copying what is marked, where it took
 * comparing everything.
 */

import { Cursor } from "../instructions.ts";
import { assemble, EXPORT, leb, type Section, sections } from "../module-sections.ts";
import { Sink } from "./bytes.ts";
import { Facts, type Signature } from "./facts.ts";
import { markFunction, type Signatures } from "./function.ts";
import { MARKS, PRIVATE, WRITTEN } from "./names.ts";
import { MARK_MEMORY_PAGES, Unmarkable } from "./stores.ts";

const TYPE = 1;
const IMPORT = 2;
const FUNCTION = 3;
const MEMORY = 5;
const CODE = 10;

/** One less than addresses reach. */
const MAX_PAGES = 65_535;

/** Nothing where a module writes in a way that is not marked: then all of them are to be compared. */
export function markModules<Name extends string>(
  modules: readonly (readonly [Name, Uint8Array])[],
): (readonly [Name, Uint8Array])[] | undefined {
  try {
    return modules.map(([name, module]) => [name, markModule(module)] as const);
  } catch (error) {
    if (error instanceof Unmarkable) return undefined;
    throw error;
  }
}

function markModule(module: Uint8Array): Uint8Array {
  const all = sections(module);
  const open = (id: number) => {
    const section = all.find((one) => one.id === id);
    return section && new Cursor(module, section.start);
  };
  const imported = readImports(open(IMPORT));
  const declared = open(MEMORY)?.u32() ?? 0;
  const memories = imported.memories + declared;
  const code = all.find(({ id }) => id === CODE);
  if (memories === 0 || code === undefined) return module;
  refuseFullSize(open(MEMORY));
  const signatures: Signatures = {
    types: readTypes(open(TYPE)),
    functions: [...imported.functions, ...readFunctions(open(FUNCTION))],
  };
  const marked = markCode(module, code, { signatures, imported: imported.functions.length, marks: memories });
  if (marked === undefined) return module;
  const replaced = new Map([
    [CODE, marked],
    [
      MEMORY,
      addMemory(
        module,
        all.find(({ id }) => id === MEMORY),
        declared,
      ),
    ],
    [
      EXPORT,
      addExports(
        module,
        all.find(({ id }) => id === EXPORT),
        memories,
      ),
    ],
  ]);
  // Hints about branches are kept by place, and the places have moved.
  const kept = all.filter((section) => !isHint(module, section));
  const made = assemble(module, kept, replaced) as Uint8Array<ArrayBuffer>;
  // A function may have been as large as the engine allows.
  if (!WebAssembly.validate(made)) throw new Unmarkable("the engine refuses it with marks");
  return made;
}

function isHint(module: Uint8Array, { id, start }: Section): boolean {
  return id === 0 && new Cursor(module, start).name().startsWith("metadata.code.");
}

function readImports(cursor: Cursor | undefined): { functions: number[]; memories: number } {
  const functions: number[] = [];
  let memories = 0;
  for (let left = cursor?.u32() ?? 0; cursor && left > 0; left--) {
    cursor.skip(cursor.u32());
    cursor.skip(cursor.u32());
    const kind = cursor.byte();
    if (kind === 0) functions.push(cursor.u32());
    else if (kind === 3) {
      cursor.type();
      cursor.skip(1);
    } else if (kind === 4) {
      cursor.skip(1);
      cursor.leb();
    } else {
      if (kind === 1) cursor.type();
      else memories++;
      if ((cursor.byte() & 1) === 1) cursor.leb();
      cursor.leb();
    }
  }
  return { functions, memories };
}

/** In a memory as large as addresses reach, what is past the end of the marks would not be past that of the memory. */
function refuseFullSize(cursor: Cursor | undefined): void {
  for (let left = cursor?.u32() ?? 0; cursor && left > 0; left--) {
    const hasMax = cursor.byte() === 1;
    cursor.leb();
    if (!hasMax || cursor.u32() > MAX_PAGES) throw new Unmarkable("a memory of 4 GiB");
  }
}

function readTypes(cursor: Cursor | undefined): Signature[] {
  const count = () => {
    const values = cursor?.u32() ?? 0;
    for (let left = values; left > 0; left--) cursor?.type();
    return values;
  };
  return Array.from({ length: cursor?.u32() ?? 0 }, () => {
    cursor?.skip(1);
    return { params: count(), results: count() };
  });
}

function readFunctions(cursor: Cursor | undefined): number[] {
  return Array.from({ length: cursor?.u32() ?? 0 }, () => cursor?.u32() ?? 0);
}

function markCode(
  module: Uint8Array,
  section: Section,
  { signatures, imported, marks }: { signatures: Signatures; imported: number; marks: number },
): Uint8Array | undefined {
  const cursor = new Cursor(module, section.start);
  const facts = new Facts();
  let writes = false;
  const out = new Sink((section.end - section.start) * 1.25);
  const body = new Sink(1 << 16);
  const count = cursor.u32();
  out.leb(count);
  for (let index = 0; index < count; index++) {
    const end = cursor.u32() + cursor.at;
    const groups = cursor.u32();
    const firstGroup = cursor.at;
    let declared = 0;
    for (let left = groups; left > 0; left--) {
      declared += cursor.u32();
      cursor.type();
    }
    const type = signatures.types[signatures.functions[imported + index] ?? -1];
    if (type === undefined) throw new Unmarkable("a function of an unknown type");
    body.length = 0;
    const code = { module, start: cursor.at, end, type, locals: declared };
    const locals = markFunction(code, { signatures, marks, facts, out: body });
    if (locals !== undefined) writes = true;
    const added = locals ?? [];
    const size = leb(groups + added.length).length + cursor.at - firstGroup + added.length * 2 + body.length;
    out.leb(size);
    out.leb(groups + added.length);
    out.copy(module, firstGroup, cursor.at);
    for (const local of added) out.put(1, local);
    out.copy(body.bytes, 0, body.length);
    cursor.at = end;
  }
  return writes ? out.bytes.subarray(0, out.length) : undefined;
}

function addMemory(module: Uint8Array, section: Section | undefined, declared: number): Uint8Array {
  const entries = section === undefined ? new Uint8Array() : afterCount(module, section);
  // A fixed size, and room for every address there is.
  const marks = [1, ...leb(MARK_MEMORY_PAGES), ...leb(MARK_MEMORY_PAGES)];
  return Buffer.concat([Uint8Array.from(leb(declared + 1)), entries, Uint8Array.from(marks)]);
}

function addExports(module: Uint8Array, section: Section | undefined, marks: number): Uint8Array {
  const count = section === undefined ? 0 : new Cursor(module, section.start).u32();
  const entries = section === undefined ? new Uint8Array() : afterCount(module, section);
  const entry = (name: string, memory: number) => {
    const bytes = new TextEncoder().encode(PRIVATE + name);
    return Uint8Array.from([bytes.length, ...bytes, 2, ...leb(memory)]);
  };
  return Buffer.concat([Uint8Array.from(leb(count + 2)), entries, entry(WRITTEN, 0), entry(MARKS, marks)]);
}

function afterCount(module: Uint8Array, { start, end }: Section): Uint8Array {
  const cursor = new Cursor(module, start);
  cursor.leb();
  return module.subarray(cursor.at, end);
}
