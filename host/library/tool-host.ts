/** `postern/tool-host`: sandboxed tools for any program. Nothing heavy is loaded before a host is opened. */
import type { ToolHost, ToolHostOptions } from "./contract.ts";

export { Fault, type ToolInfo, type ToolOutcome } from "../../kernel/plugin.ts";
export type { ToolReceipt } from "../wire.ts";
export type * from "./contract.ts";
export { type AdapterOptions, type AiTool, aiTools, type ToolFunction, toolFunctions } from "./functions.ts";

/** Opens the tools of a folder. It starts no listener, reads no environment and leaves the process's signals alone. */
export async function openToolHost(options: ToolHostOptions): Promise<ToolHost> {
  const { open } = await import("./open.ts");
  return open(options);
}
