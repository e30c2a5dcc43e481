/** Instances of components that mark what they write, and a look at all of their memory that knows nothing of marks. */
import { hash } from "node:crypto";
import { compileFunction } from "node:vm";
import { prepare } from "../../../host/compile/transpile.ts";
import { GLUE_WEBASSEMBLY } from "../../../host/sandbox/inside/glue.ts";
import { type Instance, type Instantiate, openInstance } from "../../../host/sandbox/inside/instance.ts";
import { createWasi } from "../../../host/sandbox/inside/wasi/wasi.ts";
import { markModules } from "../../../host/wasm/marking/module.ts";
import { MARKS, PRIVATE } from "../../../host/wasm/marking/names.ts";
import { MARKED_VIEWS } from "../../../host/wasm/marking/views.ts";
import { CACHE } from "./alone.ts";

export interface MarkedComponent {
  /** False where the component keeps what cannot be put back, or writes in a way that is not marked. */
  readonly isMarked: boolean;
  open(): Promise<Watched>;
}

export interface Watched {
  readonly instance: Instance;
  /** How many bytes of its memories are not as they were when it was opened. */
  differences(): number;
  /** What its memories held when it was opened. */
  readonly start: readonly Buffer[];
}

/** A component with marks, whatever its size; what it asks of the host is answered here. */
export async function markedComponent(bytes: Uint8Array): Promise<MarkedComponent> {
  const source = { sha256: hash("sha256", bytes), read: async () => bytes, cache: CACHE, memoryMb: 64 };
  const { restorable, plain, ...entry } = await prepare(source);
  const hasMarks = entry.glue.startsWith(MARKED_VIEWS);
  const marked = hasMarks || !restorable ? undefined : markModules(entry.modules);
  const modules = new Map(
    (marked ?? entry.modules).map(([name, module]) => [name, new WebAssembly.Module(new Uint8Array(module))]),
  );
  const glue = compileFunction(marked === undefined ? entry.glue : MARKED_VIEWS + entry.glue, [
    "WebAssembly",
  ]);
  const first = {};
  return {
    isMarked: hasMarks || marked !== undefined,
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
      for (const [name, value] of Object.entries(core.exports)) {
        if (value instanceof WebAssembly.Memory && name !== PRIVATE + MARKS) memories.add(value);
      }
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
