/** Instances of components, and a look at all of their memory that knows nothing of how it is put back. */
import { hash } from "node:crypto";
import { compileFunction } from "node:vm";
import { prepare } from "../../../host/compile/transpile.ts";
import { GLUE_WEBASSEMBLY } from "../../../host/sandbox/inside/glue.ts";
import { type Instance, type Instantiate, openInstance } from "../../../host/sandbox/inside/instance.ts";
import { createWasi } from "../../../host/sandbox/inside/wasi/wasi.ts";
import { CACHE } from "./alone.ts";

export interface Watched {
  readonly instance: Instance;
  /** How many bytes of its memories are not as they were when it was opened. */
  differences(): number;
  /** What its memories held when it was opened. */
  readonly start: readonly Buffer[];
}

/** A component that can be put back; what it asks of the host is answered here. */
export async function watchedComponent(bytes: Uint8Array): Promise<{ open(): Promise<Watched> }> {
  const source = { sha256: hash("sha256", bytes), read: async () => bytes, cache: CACHE, memoryMb: 64 };
  const { restorable, plain, ...entry } = await prepare(source);
  if (!restorable) throw new Error("it keeps what cannot be put back");
  const modules = new Map(
    entry.modules.map(([name, module]) => [name, new WebAssembly.Module(new Uint8Array(module))]),
  );
  const glue = compileFunction(entry.glue, ["WebAssembly"]);
  const first = {};
  return {
    open: async () => {
      const memories = new Set<WebAssembly.Memory>();
      const instantiate = watch(glue(GLUE_WEBASSEMBLY) as Instantiate, memories);
      const { interfaces, resources } = createWasi(
        () => {},
        async () => ({ ok: false, error: "nobody is there" }),
      );
      const imports = { ...interfaces, "postern:tool/host": HOST };
      const instance = await openInstance(
        { instantiate, modules, restorable, plain, first },
        { interfaces: imports, resources },
      );
      const start = [...memories].map((memory) => ({
        memory,
        bytes: Buffer.from(Buffer.from(memory.buffer)),
      }));
      const differences = () =>
        start.reduce((sum, { memory, bytes }) => sum + countDifferences(bytes, memory), 0);
      return { instance, differences, start: start.map(({ bytes }) => bytes) };
    },
  };
}

const PAGE_BYTES = 4096;

const HOST = {
  log: () => {},
  secretExists: () => true,
  httpRequest: () => ({ status: 200, body: new Uint8Array(3000).fill(65) }),
};

/** Shows the memories of the core instances that were made last. */
function watch(instantiate: Instantiate, memories: Set<WebAssembly.Memory>): Instantiate {
  return (getCoreModule, imports, instantiateCore) => {
    memories.clear();
    return instantiate(getCoreModule, imports, (module, wanted) => {
      const core = instantiateCore(module, wanted);
      for (const value of Object.values(core.exports))
        if (value instanceof WebAssembly.Memory) memories.add(value);
      return core;
    });
  };
}

function countDifferences(before: Buffer, { buffer }: WebAssembly.Memory): number {
  const now = Buffer.from(buffer);
  let differences = Math.abs(now.length - before.length);
  // Nearly all of it is equal, and comparing page by page is a thousand times as fast as byte by byte.
  for (let start = 0; start < before.length; start += PAGE_BYTES) {
    const page = before.subarray(start, start + PAGE_BYTES);
    if (page.equals(now.subarray(start, start + page.length))) continue;
    for (const [at, byte] of page.entries()) if (byte !== now[start + at]) differences++;
  }
  return differences;
}
