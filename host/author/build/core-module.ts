/** From a core module to a component: the WIT is embedded, and WASI of before components adapted to WASI 0.2. */
import { readFile } from "node:fs/promises";
import { Fault, reason } from "../../../kernel/plugin.ts";
import type { Toolchain } from "./toolchain.ts";

export interface CoreModule {
  readonly binary: Uint8Array;
  readonly wit: string;
  readonly world: string;
  /** It imports `wasi_snapshot_preview1`. */
  readonly usesWasi: boolean;
  /** A question to an author whose module does not export what the WIT says. */
  readonly hint: string;
}

export async function toComponent(module: CoreModule, toolchain: Toolchain): Promise<Uint8Array> {
  const { binary, wit: witSource, world, usesWasi, hint } = module;
  const jco = await toolchain.load("@bytecodealliance/jco");
  const adapters: [name: string, bytes: Uint8Array][] = usesWasi
    ? [["wasi_snapshot_preview1", await readFile(jco.preview1AdapterReactorPath())]]
    : [];
  try {
    return await jco.componentNew(await jco.componentEmbed({ binary, witSource, world }), adapters);
  } catch (error) {
    const cause = reason(error)
      .split("\n")
      .at(-1)
      ?.replace(/^\W*\d+: /, "");
    const told = `not built: it does not match wit/tool.wit: ${cause}. ${hint}`;
    throw new Fault("invalid", "build_failed", told, { cause: error });
  }
}
