/** The path of a module that is started as a thread: TypeScript in a clone, JavaScript when built. */
import { fileURLToPath } from "node:url";

/** `name` lies beside the module that asks, which passes its own `import.meta.url`. */
export function threadFile(name: string, beside: string): string {
  return fileURLToPath(new URL(`./${name}${beside.endsWith(".ts") ? ".ts" : ".js"}`, beside));
}
