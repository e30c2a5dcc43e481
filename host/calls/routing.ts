/** Installed tools and those of MCP servers as one list. Where both have a name, it is the installed tool's. */
import type { ToolCall, ToolInfo } from "../../kernel/plugin.ts";
import type { Catalog, InstalledTool } from "../catalog/catalog.ts";
import type { ForeignRun } from "../mcp/calls/calls.ts";
import type { ForeignTools } from "../mcp/foreign-tools.ts";
import type { Runner, RunOptions } from "./runner.ts";

export interface Routing {
  /** Of any tool. */
  call(call: ToolCall, options: RunOptions): Promise<ForeignRun>;
  /** Goes on with a call that asked something; only tools of MCP servers do. */
  readonly resume: ForeignTools["resume"];
  readonly refusal: Runner["refusal"];
  /** All tools as others see them, installed or of an MCP server. */
  list(): Promise<readonly ToolInfo[]>;
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
