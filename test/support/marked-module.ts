/** Core modules that mark what they write, and what their memory holds. */

import { findMemories } from "../../host/sandbox/inside/memory-copy.ts";
import { markModules } from "../../host/wasm/marking/module.ts";

export interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly pointer: WebAssembly.Global<"i32">;
  run(first: number, second: number): number;
}

export const open = <Shape extends object = Exports>(bytes: Uint8Array, imports = {}) =>
  new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), imports).exports as Shape;

export const bytesOf = ({ buffer }: WebAssembly.Memory) => Buffer.from(buffer);
/** A copy, which stays as it is. */
export const held = (memory: WebAssembly.Memory) => Buffer.from(bytesOf(memory));

export function marked(module: Uint8Array): Uint8Array {
  const [made] = markModules([["module", module]]) ?? [];
  if (made === undefined) throw new Error("it was not marked");
  return made[1];
}

export function keptMemories(cores: { exports: object }[]) {
  const memories = findMemories(cores);
  return memories.keep(memories.image());
}
