/** The path of a file of this folder that is started as a thread: TypeScript in a clone, JavaScript when built. */
import { fileURLToPath } from "node:url";

export function siblingFile(name: string): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return fileURLToPath(new URL(`./${name}.${extension}`, import.meta.url));
}
