/**
 * The thread that reads components. Parsing and transpiling take seconds and work on bytes nobody vouches
 * for, so they happen beside the service, in a thread that is gone afterwards.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { isPlain } from "./canon.ts";
import { countMemories, fitModule, PAGE_BYTES, UnfitModule } from "./core-module.ts";

export type ToolchainJob =
  | { readonly type: "wit"; readonly bytes: Uint8Array }
  | { readonly type: "transpile"; readonly bytes: Uint8Array; readonly memoryMb: number };

export interface Transpiled {
  /** Core modules under the names the glue asks for, bounded and opened. */
  readonly modules: Readonly<Record<string, Uint8Array>>;
  /** The body of a function that answers the glue's `instantiate`. */
  readonly glue: string;
  /** TypeScript of the component's own interfaces, which is how its types are checked. */
  readonly types: Readonly<Record<string, string>>;
  /** Why an instance cannot be put back after a call; empty where it can. */
  readonly keeps: readonly string[];
  readonly plain: boolean;
}

export type ToolchainReply =
  | { readonly ok: true; readonly value: string | Transpiled }
  /** `unfit`: the component is sound, but not one that we run. */
  | { readonly ok: false; readonly unfit: boolean; readonly message: string };

async function transpileComponent(bytes: Uint8Array, memoryMb: number): Promise<Transpiled> {
  const { transpile } = await import("@bytecodealliance/jco");
  const { files } = await transpile(bytes, {
    name: "component",
    instantiation: "sync",
    wasiShim: false,
    nodejsCompat: false,
    base64Cutoff: 0,
  });
  const named = Object.entries(files);
  const cores = named.filter(([name]) => name.endsWith(".wasm"));
  // What the limit allows is shared out among the memories, so that the sum of them stays within it.
  const memories = cores.reduce((sum, [, core]) => sum + countMemories(core), 0);
  const maxPages = Math.floor((memoryMb * 2 ** 20) / PAGE_BYTES / Math.max(memories, 1));
  const fitted = cores.map(([name, core]) => [name, fitModule(core, maxPages)] as const);
  const text = (name: string) => new TextDecoder().decode(files[name]);
  return {
    modules: Object.fromEntries(fitted.map(([name, fit]) => [name, fit.bytes])),
    glue: toFunctionBody(text("component.js")),
    types: Object.fromEntries(
      named.flatMap(([name]) =>
        name.startsWith("interfaces/") ? [[name.slice("interfaces/".length), text(name)]] : [],
      ),
    ),
    keeps: [...new Set(fitted.flatMap(([, fit]) => fit.keeps))],
    plain: isPlain(bytes),
  };
}

// A module cannot be unloaded; a function can be forgotten with the instance that used it.
function toFunctionBody(glue: string): string {
  const body = glue.replace(/^export (?=function instantiate\(|const _util\b)/gm, "");
  if (/^(import|export)\b/m.test(body)) throw new Error("the transpiler wrote glue of an unknown shape");
  return `${body}\nreturn instantiate;`;
}

async function work(job: ToolchainJob): Promise<ToolchainReply> {
  try {
    if (job.type === "transpile")
      return { ok: true, value: await transpileComponent(job.bytes, job.memoryMb) };
    const { componentWit } = await import("@bytecodealliance/jco");
    return { ok: true, value: await componentWit(job.bytes) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, unfit: error instanceof UnfitModule, message: message.slice(0, 500) };
  }
}

if (!isMainThread) parentPort?.postMessage(await work(workerData as ToolchainJob));
