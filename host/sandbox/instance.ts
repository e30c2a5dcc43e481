/**
 * A component's instance that can be made clean. A call may change linear memory, numeric globals and the
 * glue's own tables. The first two are put back from a copy made before the first call; the glue is made
 * anew around the same core instances, unless the call cannot have touched its tables. Where that is not the
 * whole truth the instance says so, and is dropped.
 */

/** Exports under which core modules were made to show their state; no component may use the prefix. */
export const PRIVATE = "postern-private:";

export interface ToolExports {
  execute(request: { params: string }): { output?: string; error?: string };
  schema(): string;
  description(): string;
}

type Exports = Readonly<Record<string, unknown>>;
type CoreImport =
  | WebAssembly.Memory
  | WebAssembly.Global
  | WebAssembly.Table
  | ((...values: unknown[]) => unknown);
type CoreImports = Readonly<Record<string, Readonly<Record<string, CoreImport>>>>;
type InstantiateCore = (module: WebAssembly.Module, imports?: CoreImports) => { readonly exports: Exports };

/** The function the transpiler wrote for one component. */
export type Instantiate = (
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: object,
  instantiateCore: InstantiateCore,
) => { readonly tool: ToolExports };

export interface Linkable {
  readonly instantiate: Instantiate;
  readonly modules: ReadonlyMap<string, WebAssembly.Module>;
  /** False where the core modules keep state that cannot be put back. */
  readonly restorable: boolean;
  /** True where all that the glue keeps for the guest is the handles of resources which the host gave it. */
  readonly plain: boolean;
}

export interface Instance {
  readonly tool: ToolExports;
  memoryBytes(): number;
  /** True where the next call finds what the first one found; false where this instance must be dropped. */
  clean(): boolean;
}

interface Forwarder {
  target: (...values: unknown[]) => unknown;
}

/** Large enough that a chunk costs little to visit, small enough that most of them stay untouched. */
const CHUNK_BYTES = 16_384;

/**
 * Opens an instance. `resources` counts what the imports handed out so far. Where it can be cleaned it is first
 * asked for its description: engines do work on their first call that every call would otherwise do again.
 */
export function openInstance(linkable: Linkable, imports: object, resources: () => number): Instance {
  if (linkable.restorable) {
    try {
      const before = resources();
      const warm = open(linkable, imports, resources, (tool) => void tool.description());
      if (resources() === before) return warm;
    } catch {
      // It may still be able to do its work.
    }
  }
  return open(linkable, imports, resources, () => {});
}

function open(
  { instantiate, modules, restorable, plain }: Linkable,
  imports: object,
  resources: () => number,
  prepare: (tool: ToolExports) => void,
): Instance {
  const cores: { readonly exports: Exports }[] = [];
  const forwarders: Map<string, Forwarder>[] = [];
  const own = new Set<unknown>();
  const glueGlobals: WebAssembly.Global[] = [];
  let isBoundToGlue = false;
  const resourcesBefore = resources();

  const getCoreModule = (name: string): WebAssembly.Module => {
    const module = modules.get(name);
    if (module === undefined) throw new Error(`there is no core module ${name}`);
    return module;
  };

  // The glue's functions reach the core instances through forwarders, so that new glue can take their place.
  const link = (module: WebAssembly.Module, wanted: CoreImports = {}): { readonly exports: Exports } => {
    const slots = new Map<string, Forwarder>();
    const linked: Record<string, Record<string, CoreImport>> = {};
    for (const [namespace, fields] of Object.entries(wanted)) {
      const group: Record<string, CoreImport> = {};
      for (const [name, value] of Object.entries(fields)) {
        if (own.has(value)) group[name] = value;
        else if (typeof value === "function") {
          const slot: Forwarder = { target: value as Forwarder["target"] };
          slots.set(`${namespace}\n${name}`, slot);
          group[name] = (...values: unknown[]) => slot.target(...values);
        } else {
          isBoundToGlue = true;
          if (value instanceof WebAssembly.Global) glueGlobals.push(value);
          group[name] = value;
        }
      }
      linked[namespace] = group;
    }
    const core = new WebAssembly.Instance(module, linked) as { readonly exports: Exports };
    for (const value of Object.values(core.exports)) own.add(value);
    cores.push(core);
    forwarders.push(slots);
    return core;
  };

  const relink = (): ToolExports => {
    let next = 0;
    return instantiate(getCoreModule, imports, (_module, wanted = {}) => {
      const slots = forwarders[next];
      const core = cores[next++];
      if (slots === undefined || core === undefined)
        throw new Error("the glue links differently the second time");
      for (const [namespace, fields] of Object.entries(wanted)) {
        for (const [name, value] of Object.entries(fields)) {
          const slot = slots.get(`${namespace}\n${name}`);
          if (slot !== undefined) slot.target = value as Forwarder["target"];
        }
      }
      return core;
    }).tool;
  };

  let tool = instantiate(getCoreModule, imports, link).tool;
  prepare(tool);
  const state = cores.flatMap(({ exports }) =>
    Object.entries(exports).flatMap(([name, value]) => (name.startsWith(PRIVATE) ? [value] : [])),
  );
  const memories = state.filter((value) => value instanceof WebAssembly.Memory);
  const globals = [...state.filter((value) => value instanceof WebAssembly.Global), ...glueGlobals];
  // A handle given out during instantiation lives in the memory that is put back: the glue must keep it as it is.
  const canClean = restorable && resources() === resourcesBefore;
  const memoryCopies = canClean ? memories.map(copyMemory) : [];
  const globalValues = globals.map(({ value }) => value as unknown);
  let resourcesSeen = resources();

  return {
    get tool() {
      return tool;
    },
    memoryBytes: () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
    clean() {
      const mustRelink = !plain || resources() !== resourcesSeen;
      if (!canClean || (mustRelink && isBoundToGlue)) return false;
      // Memory cannot shrink, and its size can be asked for: growth would tell the next call of this one.
      if (!memoryCopies.every((copy) => copy.restore())) return false;
      for (const [index, global] of globals.entries()) global.value = globalValues[index];
      if (mustRelink) tool = relink();
      resourcesSeen = resources();
      return true;
    },
  };
}

interface MemoryCopy {
  /** False where the memory has grown since. */
  restore(): boolean;
}

const ZERO = Buffer.alloc(CHUNK_BYTES);

function copyMemory(memory: WebAssembly.Memory): MemoryCopy {
  const size = memory.buffer.byteLength;
  const live = Buffer.from(memory.buffer);
  const chunks: Buffer[] = [];
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const chunk = live.subarray(at, at + CHUNK_BYTES);
    chunks.push(chunk.equals(ZERO) ? ZERO : Buffer.from(chunk));
  }
  return {
    restore() {
      if (memory.buffer.byteLength !== size) return false;
      const now = Buffer.from(memory.buffer);
      for (const [index, chunk] of chunks.entries()) {
        const at = index * CHUNK_BYTES;
        // Comparing reads; copying everything would also write, and most chunks are as they were.
        if (now.compare(chunk, 0, CHUNK_BYTES, at, at + CHUNK_BYTES) !== 0) now.set(chunk, at);
      }
      return true;
    },
  };
}
