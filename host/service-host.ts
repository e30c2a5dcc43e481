/** The tool host as the service has it: with the tools of MCP servers, the tools that come with Postern, and what the operator does with them. */
import type { PrivateHosts } from "../kernel/kit/outbound.ts";
import { Fault, type ToolCall, type ToolInfo } from "../kernel/plugin.ts";
import { createAdmin } from "./admin.ts";
import { createAuthorization } from "./authorization.ts";
import { missingSecrets } from "./broker/credentials.ts";
import type { RunOptions } from "./calls/parts.ts";
import { createReplay } from "./calls/replay.ts";
import type { InstalledTool } from "./catalog/catalog.ts";
import { isReservedName } from "./catalog/install.ts";
import { lacksShipped, provideShipped, SHIPPED_LOCK } from "./catalog/shipped.ts";
import { repairShipped } from "./catalog/shipped-repair.ts";
import { admit } from "./installer.ts";
import { type ForeignTools, openForeignTools } from "./mcp/foreign-tools.ts";
import { createJsonCheck } from "./sandbox/json-check.ts";
import { createSignIns } from "./secrets/sign-ins.ts";
import type { PackageOfFiles, Packages } from "./services.ts";
import { readReference } from "./sources/local.ts";
import { unpackUpload } from "./sources/packages.ts";
import { parseReference } from "./sources/reference.ts";
import { createToolHost, type ToolHostConfig, type ToolHostPorts } from "./tool-host.ts";

declare module "../kernel/plugin.ts" {
  interface Services {
    toolHost: {
      open(): Promise<ServiceHost>;
      readonly privateHosts: PrivateHosts;
      readonly signingPassword: string | undefined;
      /** The PATH that commands are looked for in. */
      readonly path: string;
    };
  }
}

export interface ServiceHostConfig extends ToolHostConfig {
  readonly shipped: boolean;
  readonly signingPassword?: string | undefined;
  readonly path?: string;
  readonly serverIndexes?: readonly string[];
  readonly version?: string;
}

export interface ServiceHostPorts extends Omit<ToolHostPorts, "isTaken"> {
  readonly config: ServiceHostConfig;
}

export type ServiceHost = Awaited<ReturnType<typeof openServiceHost>>;

export async function openServiceHost(ports: ServiceHostPorts) {
  const { config, home, store, mask, log } = ports;
  const { privateHosts, variable } = config;
  const host = await createToolHost({ ...ports, isTaken: (name) => foreign.has(name) });
  const { catalog, code, receipts, vault, source, network, downloads, sources, judgeSignature } = host;
  const { pool, examine, place, putOver, installer, describe, ownSettings } = host;
  const key = await store.keysFor("secrets");
  const checkJson = createJsonCheck(pool);
  const foreign: ForeignTools = await openForeignTools({
    downloads,
    serverIndexes: config.serverIndexes,
    store,
    vault,
    key,
    mask,
    log,
    network,
    receipts,
    checkJson,
    privateHosts,
    isTaken: async (name) => isReservedName(name) || (await catalog.find(name)) !== undefined,
    path: config.path ?? "",
    folder: home,
    version: config.version ?? "0",
    serves: config.keepsSpare ?? false,
  });

  const { authorize, setUp } = createAuthorization({
    ...{ vault, catalog, ownSettings, network, privateHosts, environment: variable },
  });

  /** If an installed tool and one of an MCP server have the same name, it is the installed tool's. */
  const isForeign = async (name: string) =>
    (await catalog.find(name)) === undefined && (await foreign.has(name));

  return {
    ...host,
    foreign,
    call: async (call: ToolCall, options: RunOptions): ReturnType<ForeignTools["call"]> =>
      (await isForeign(call.name)) ? foreign.call(call, options) : host.run(call, options),
    resume: foreign.resume,
    refusal: async (call: ToolCall, user: string) =>
      (await isForeign(call.name)) ? foreign.refusal(call) : host.refusal(call, user),
    async list(user?: string): Promise<readonly ToolInfo[]> {
      const installed = await host.list(user);
      const names = new Set(installed.map(({ name }) => name));
      return [...installed, ...(await foreign.list()).filter(({ name }) => !names.has(name))];
    },
    checkJson,
    admin: createAdmin({
      catalog,
      installer,
      setup: host.setup,
      switches: host.switches,
      receipts,
      vault,
      signIns: createSignIns(store.keyed("sign-ins"), key),
      network,
      privateHosts,
      describe,
      remove: host.remove,
      ownSettings,
      limits: host.limits,
      sources,
      finishServerSignIn: foreign.servers.finishSignIn,
    }),
    async fetchPackage(
      what: string,
      { folder, unsigned, ...options }: Parameters<Packages["fetch"]>[1],
    ): Promise<PackageOfFiles> {
      const reference = folder === undefined ? parseReference(what) : readReference(what, folder);
      if (folder === undefined && (reference.kind === "file" || reference.kind === "folder"))
        throw new Fault("invalid", "tool_reference", `${what} is a path: upload an archive instead.`, {
          param: "from",
        });
      const { evidence, ...fetched } = await sources.fetchPackage(reference, options);
      const { origin = fetched.origin, signature } = await admit(
        judgeSignature,
        { origin: fetched.origin, evidence },
        { unsigned },
      );
      return { ...fetched, origin, ...(signature !== undefined && { signature }) };
    },
    unpackUpload,
    replay: createReplay(pool, code, privateHosts),
    authorize,
    setUp,
    missingSecrets: (tool: InstalledTool) => missingSecrets(tool, source),
    /** What the user had given tools and MCP servers for themselves. */
    async forgetUser(user: string): Promise<void> {
      await vault.forgetUser(user);
      await ownSettings.forgetUser(user);
    },
    /** Puts the tools that come with Postern, or those named, into a home that was never offered them. */
    async provideShipped(
      progress: (line: string) => void,
      signal = new AbortController().signal,
      names?: readonly string[],
      onEach?: (at: number, of: number) => void,
    ): Promise<void> {
      if (!config.shipped) return;
      // One node does it: the next ones find the tools installed and do not examine them.
      await store.exclusive(SHIPPED_LOCK, () =>
        provideShipped({ catalog, examine, place, progress, onEach, signal }, names),
      );
    },
    /** True until the tools that come with Postern were offered to this home. */
    lacksShipped: async () => config.shipped && (await lacksShipped(catalog)),
    repairShipped: (name: string, progress: (line: string) => void) =>
      store.exclusive(SHIPPED_LOCK, () => repairShipped(name, { catalog, examine, putOver, progress })),
    async close(): Promise<void> {
      await foreign.close();
      await host.close();
    },
  };
}
