/** Opens the tool host for a command and closes it afterwards. */

import type { PrivateHosts } from "../../kernel/kit/outbound.ts";
import { type CommandContext, Fault, reason, type ToolInfo } from "../../kernel/plugin.ts";
import type { InstalledTool } from "../catalog/catalog.ts";
import { SHIPPED } from "../catalog/shipped.ts";
import type { ServiceHost } from "../service-host.ts";
import { progress } from "./terminal/terminal.ts";

type Work = (host: ServiceHost) => Promise<void>;

export function withHost(context: CommandContext, work: Work): Promise<void> {
  return context.with(["toolHost"], async ({ toolHost }) => work(await toolHost.open()));
}

/** The operator's exceptions, for what runs beside the host but must judge as it does. */
export async function readPrivateHosts(context: CommandContext): Promise<PrivateHosts> {
  let hosts: PrivateHosts = new Set();
  await context.with(["toolHost"], async ({ toolHost }) => {
    hosts = toolHost.privateHosts;
  });
  return hosts;
}

/** Finds a tool by name; a shipped one is installed first, and the others when somebody asks for them. */
export async function requireTool(host: ServiceHost, name: string): Promise<InstalledTool> {
  if (SHIPPED.includes(name) && (await host.catalog.find(name)) === undefined)
    await provideShipped(host, [name]);
  const tool = await host.catalog.find(name);
  if (tool === undefined) throw noSuchTool(name);
  return tool;
}

export function withAnyTool(
  context: CommandContext,
  name: string,
  work: (host: ServiceHost, tool: InstalledTool | ToolInfo) => Promise<void>,
): Promise<void> {
  return withHost(context, async (host) => {
    const isInstalled = (await host.catalog.find(name)) !== undefined;
    const foreign = isInstalled ? undefined : (await host.foreign.list()).find((tool) => tool.name === name);
    if (foreign !== undefined) return work(host, foreign);
    // One that is held back or off says why, when it is called.
    if (!isInstalled && (await host.foreign.has(name))) {
      const refusal = await host.foreign.refusal({ id: "", name, params: "{}" });
      throw new Fault("unavailable", "held_back", refusal?.status === "error" ? refusal.message : name);
    }
    return work(host, await requireTool(host, name));
  });
}

/** Whatever keeps a shipped tool from being built, the others are there. */
export function provideShipped(host: ServiceHost, names?: readonly string[]): Promise<void> {
  return host.provideShipped(progress, undefined, names).catch((error) => progress(reason(error)));
}

export function noSuchTool(name: string): Fault {
  const message = `there is no tool "${name}"; "postern tool list" shows the installed tools`;
  return new Fault("missing", "no_such_tool", message, { param: "name" });
}
