/** A component's instance that can be made clean: memory and globals from a copy, the glue anew if its tables were touched. */

import { PRIVATE } from "../../wasm/private-names.ts";
import { type CoreFunction, createHooks, type GlueHooks, SuspendingImport, suspending } from "./glue.ts";
import type { Imports } from "./imports.ts";
import { findMemories, type Image } from "./memory-copy.ts";

/** A promise where the component's imports may wait. */
type Awaitable<Value> = Value | Promise<Value>;

export interface ToolExports {
  execute(request: { params: string }): Awaitable<{ output?: string; error?: string }>;
  schema(): Awaitable<string>;
  description(): Awaitable<string>;
}

type Exports = Readonly<Record<string, unknown>>;
type CoreImport = WebAssembly.Memory | WebAssembly.Global | WebAssembly.Table | CoreFunction;
type CoreImports = Readonly<Record<string, Readonly<Record<string, CoreImport | SuspendingImport>>>>;
type InstantiateCore = (module: WebAssembly.Module, imports?: CoreImports) => { readonly exports: Exports };

/** The function the transpiler wrote for one component. */
export type Instantiate = (
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: object & GlueHooks,
  instantiateCore: InstantiateCore,
) => { readonly tool: ToolExports };

export interface Linkable {
  readonly instantiate: Instantiate;
  readonly modules: ReadonlyMap<string, WebAssembly.Module>;
  /** False where the core modules keep state that cannot be put back. */
  readonly restorable: boolean;
  /** True where all that the glue keeps for the guest is the handles of resources which the host gave it. */
  readonly plain: boolean;
  /** Shared by its instances; filled by the first of them. */
  readonly first: { memories?: Image; globals?: readonly unknown[] };
}

export interface Instance {
  readonly tool: ToolExports;
  memoryBytes(): number;
  /** Nothing of the call goes on after it. */
  stop(): void;
  /** True where the next call finds what the first one found; false where this instance must be dropped. */
  clean(): boolean;
}

type Provided = Pick<Imports, "interfaces" | "resources">;

interface Forwarder {
  target: CoreFunction;
}

/**
 * Opens an instance. Where it can be cleaned, the first one is asked for its description: engines do work on their
 * first call that every call would otherwise do again. The next ones are given the state that the first has then.
 */
export async function openInstance(linkable: Linkable, provided: Provided): Promise<Instance> {
  if (linkable.restorable) {
    try {
      const linked = link(linkable, provided);
      if (linked.becomeFirst()) return linked.ready();
      const before = provided.resources();
      await linked.tool().description();
      if (provided.resources() === before) return linked.ready();
    } catch {
      // It may still be able to do its work.
    }
  }
  return link(linkable, provided).ready();
}

function link(
  { instantiate, modules, restorable, plain, first }: Linkable,
  { interfaces, resources }: Provided,
) {
  const { hooks, assertOutward, stopTimers } = createHooks();
  const imports = { ...interfaces, ...hooks };
  const cores: { readonly exports: Exports }[] = [];
  const forwarders: Map<string, Forwarder>[] = [];
  const own = new Set<unknown>();
  const glueGlobals: WebAssembly.Global[] = [];
  let isBoundToGlue = false;
  let hasAsked = false;
  let hasBecomeFirst = false;
  const resourcesBefore = resources();

  const getCoreModule = (name: string): WebAssembly.Module => {
    const module = modules.get(name);
    if (module === undefined) throw new Error(`there is no core module ${name}`);
    return module;
  };

  // The glue's functions reach the core instances through forwarders, so that new glue can take their place.
  const linkCore = (module: WebAssembly.Module, wanted: CoreImports = {}): { readonly exports: Exports } => {
    const slots = new Map<string, Forwarder>();
    const linked: Record<string, Record<string, CoreImport>> = {};
    for (const [namespace, fields] of Object.entries(wanted)) {
      const group: Record<string, CoreImport> = {};
      for (const [name, value] of Object.entries(fields)) {
        if (own.has(value)) group[name] = value as CoreFunction;
        else if (typeof value === "function" || value instanceof SuspendingImport) {
          const slot: Forwarder = { target: targetOf(value as CoreFunction | SuspendingImport) };
          slots.set(`${namespace}\n${name}`, slot);
          const forward = (...values: unknown[]) => {
            assertOutward();
            hasAsked = true;
            return slot.target(...values);
          };
          group[name] = value instanceof SuspendingImport ? suspending(forward) : forward;
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
          if (slot !== undefined) slot.target = targetOf(value as CoreFunction | SuspendingImport);
        }
      }
      return core;
    }).tool;
  };

  let tool = instantiate(getCoreModule, imports, linkCore).tool;
  const state = cores.flatMap(({ exports }) =>
    Object.entries(exports).flatMap(([name, value]) => (name.startsWith(PRIVATE) ? [value] : [])),
  );
  const memories = findMemories(cores);
  const globals = [...state.filter((value) => value instanceof WebAssembly.Global), ...glueGlobals];
  const setGlobals = (values: readonly unknown[]) => {
    for (const [index, global] of globals.entries()) global.value = values[index];
  };

  return {
    tool: () => tool,
    /** Takes over the state of the first instance; false where that would not be the whole state. */
    becomeFirst(): boolean {
      const { memories: image, globals: values } = first;
      // An import that answered may have left something else than it did in the others.
      if (image === undefined || values === undefined || hasAsked) return false;
      memories.become(image);
      setGlobals(values);
      hasBecomeFirst = true;
      return true;
    },
    /** Keeps the present state for cleaning. */
    ready(): Instance {
      // A handle given out during instantiation lives in the memory that is put back: the glue must keep it as it is.
      const canClean = restorable && resources() === resourcesBefore;
      const image = hasBecomeFirst ? first.memories : canClean ? memories.image(first.memories) : undefined;
      const globalValues = globals.map(({ value }) => value as unknown);
      if (first.memories === undefined && image !== undefined) {
        first.memories = image;
        if (plain || !isBoundToGlue) first.globals = globalValues;
      }
      const memoryCopy = image && memories.keep(image);
      let resourcesSeen = resources();

      return {
        get tool() {
          return tool;
        },
        memoryBytes: memories.bytes,
        stop: stopTimers,
        clean() {
          const mustRelink = !plain || resources() !== resourcesSeen;
          if (memoryCopy === undefined || (mustRelink && isBoundToGlue)) return false;
          // Memory cannot shrink, and its size can be asked for: growth would tell the next call of this one.
          if (!memoryCopy.restore()) return false;
          setGlobals(globalValues);
          if (mustRelink) tool = relink();
          resourcesSeen = resources();
          return true;
        },
      };
    },
  };
}

function targetOf(value: CoreFunction | SuspendingImport): CoreFunction {
  return value instanceof SuspendingImport ? value.target : value;
}
