/** Installed tools and those of MCP servers as one list. Where both have a name, it is the installed tool's. */
import type { CallOptions } from "../../kernel/kit.ts";
import type { CallOutcome, Reply, ToolCall, ToolInfo, ToolOutcome } from "../../kernel/plugin.ts";
import type { Catalog, InstalledTool } from "../catalog/catalog.ts";
import type { Receipt } from "./receipts.ts";
import type { Runner, RunOptions } from "./runner.ts";

export interface RoutedRun {
  readonly outcome: CallOutcome;
  /** Absent where there was no tool to call. */
  readonly receipt?: Receipt;
}

/** Tools that run elsewhere, as `host/mcp` has them. */
export interface ForeignTools {
  /** True also for a tool that is held back, off or gone for now. */
  has(name: string): Promise<boolean>;
  list(): Promise<readonly ToolInfo[]>;
  call(call: ToolCall, options: CallOptions): Promise<RoutedRun>;
  /** Continues a call that asked a question. */
  resume(call: ToolCall, resume: string, replies: readonly Reply[], options: CallOptions): Promise<RoutedRun>;
  /** The outcome of a call that would be refused before anything is sent. */
  refusal(call: ToolCall): Promise<ToolOutcome | undefined>;
}

export interface Routing extends Pick<ForeignTools, "list" | "resume" | "refusal"> {
  call(call: ToolCall, options: RunOptions): Promise<RoutedRun>;
}

export function createRouting({
  catalog,
  runner,
  foreign,
  describe,
}: {
  readonly catalog: Catalog;
  readonly runner: Pick<Runner, "run" | "refusal">;
  readonly foreign: ForeignTools;
  describe(tool: InstalledTool): Promise<ToolInfo>;
}): Routing {
  const isForeign = async (name: string) =>
    (await catalog.find(name)) === undefined && (await foreign.has(name));
  return {
    call: async (call, options) =>
      (await isForeign(call.name)) ? foreign.call(call, options) : runner.run(call, options),
    resume: foreign.resume,
    refusal: async (call) => ((await isForeign(call.name)) ? foreign.refusal(call) : runner.refusal(call)),
    async list() {
      const installed = await Promise.all((await catalog.list()).map(describe));
      const names = new Set(installed.map(({ name }) => name));
      return [...installed, ...(await foreign.list()).filter(({ name }) => !names.has(name))];
    },
  };
}
