/** How a command gets at the tool host: opened for it, closed after it. */
import { reason } from "../../kernel/plugin.ts";
import type { Workbench } from "../../kernel/workbench.ts";
import type {} from "../plugin.ts";
import type { PrivateHosts } from "../policy.ts";
import type { ToolHost } from "../tool-host.ts";
import { progress } from "./terminal.ts";

type Work = (host: ToolHost) => Promise<void>;

export function withHost(workbench: Workbench, work: Work): Promise<void> {
  return workbench.with(["toolHost"], async ({ toolHost }) => work(await toolHost.open()));
}

/** The operator's exceptions, for what runs beside the host but must judge as it does. */
export async function readPrivateHosts(workbench: Workbench): Promise<PrivateHosts> {
  let hosts: PrivateHosts = new Set();
  await workbench.with(["toolHost"], async ({ toolHost }) => {
    hosts = toolHost.privateHosts;
  });
  return hosts;
}

/** With the tools that come with Postern, which a fresh home does not have yet. */
export function withShipped(workbench: Workbench, work: Work): Promise<void> {
  return withHost(workbench, async (host) => {
    // Whatever keeps a shipped tool from being built, the others are there.
    await host.provideShipped(progress).catch((error) => progress(reason(error)));
    await work(host);
  });
}
