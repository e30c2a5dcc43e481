/** The parts of the tool host put together. Everything heavy is imported from here, and here only. */

import type { PrivateHosts } from "../kernel/kit/outbound.ts";
import type { Log, Mask, Sql, ToolCall, ToolInfo } from "../kernel/plugin.ts";
import type { Store, UserStorage } from "../plugins/store/services.ts";
import { createAdmin } from "./admin.ts";
import { createAuthorization } from "./authorization.ts";
import { createBroker } from "./broker/broker.ts";
import { createCredentialSource, missingSecrets } from "./broker/credentials.ts";
import { createNetwork } from "./broker/network.ts";
import { createRefresh } from "./broker/oauth.ts";
import type { FileStore } from "./calls/files/sources.ts";
import type { RunOptions } from "./calls/parts.ts";
import { openReceipts } from "./calls/receipts.ts";
import { createReplay } from "./calls/replay.ts";
import { createRunner } from "./calls/runner.ts";
import { openToolState } from "./calls/state.ts";
import { openSwitches } from "./calls/switches.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import { openCodeCache } from "./catalog/code-cache.ts";
import { createExamination, isReservedName } from "./catalog/install.ts";
import { createPlacement } from "./catalog/placement.ts";
import { createSettings } from "./catalog/settings.ts";
import { isRunCode, lacksShipped, provideShipped, SHIPPED_LOCK } from "./catalog/shipped.ts";
import { repairShipped } from "./catalog/shipped-repair.ts";
import { openFolderCatalog, toolsFolder } from "./catalog/storage/folders.ts";
import { recoverTools } from "./catalog/storage/recovery.ts";
import { openRowCatalog } from "./catalog/storage/rows.ts";
import { openToolTables, TOPIC } from "./catalog/storage/tables.ts";
import { toInfo } from "./catalog/tool-info.ts";
import { admit, createInstaller } from "./installer.ts";
import { type ForeignTools, openForeignTools } from "./mcp/foreign-tools.ts";
import { createJsonCheck } from "./sandbox/json-check.ts";
import { createPool } from "./sandbox/pool.ts";
import { openVault } from "./secrets/secrets.ts";
import { createSignIns } from "./secrets/sign-ins.ts";
import type { PackageOfFiles, Packages } from "./services.ts";
import { createDownloads } from "./sources/download.ts";
import { readReference } from "./sources/local.ts";
import { createRegistryAccess } from "./sources/oci/access.ts";
import { openLogins } from "./sources/oci/logins.ts";
import { createSources } from "./sources/sources.ts";
import { createJudge } from "./trust/judge.ts";
import { openTrustRules } from "./trust/rules.ts";

/** The namespace in the store; also the topic that tells other nodes of a new secret. */
const SECRETS = "secrets";

declare module "../kernel/plugin.ts" {
  interface Services {
    toolHost: {
      open(): Promise<ToolHost>;
      readonly privateHosts: PrivateHosts;
      readonly signingPassword: string | undefined;
      /** The PATH that commands are looked for in. */
      readonly path: string;
    };
  }
}

export interface HostConfig {
  readonly privateHosts: PrivateHosts;
  readonly shipped: boolean;
  readonly signingPassword?: string | undefined;
  readonly workers: number | undefined;
  readonly processes?: number;
  readonly memoryBytes?: number | undefined;
  readonly keepsSpare?: boolean;
  readonly path?: string;
  readonly dockerFolder?: string | undefined;
  readonly indexes?: readonly string[];
  readonly serverIndexes?: readonly string[];
  readonly npmRegistry?: string | undefined;
  readonly version?: string;
  readonly variable: (name: string) => string | undefined;
}

export interface HostParts {
  readonly config: HostConfig;
  readonly home: string;
  readonly store: Store;
  /** What a user may keep in all; without it only each tool's own quota holds. */
  readonly storage?: UserStorage;
  /** Absent where it is off: then no tool has files. */
  readonly workspace?: FileStore | undefined;
  readonly mask: Mask;
  readonly log: Log;
}

export type ToolHost = Awaited<ReturnType<typeof openToolHost>>;

export async function openToolHost({ config, home, store, storage, workspace, mask, log }: HostParts) {
  const { privateHosts, variable } = config;
  const key = await store.keysFor("secrets");
  const sql = await openToolTables(store);
  const vault = await openVault({
    keyed: store.keyed(SECRETS),
    version: store.keyedVersion,
    key,
    mask,
    onSet: () => store.changes.mark(SECRETS),
  });
  const network = createNetwork({ privateHosts });
  const refresh = createRefresh({ network, privateHosts, exclusive: store.exclusive });
  const source = createCredentialSource({ vault, environment: variable, refresh });
  const broker = createBroker({ network, source, privateHosts, store, log });
  const pool = createPool({
    size: config.workers,
    processes: config.processes,
    memoryBytes: config.memoryBytes,
    keepsSpare: config.keepsSpare ?? false,
    onDeath: (component, why) =>
      void runner
        .died(component, why)
        .catch((error) => log.error({ error }, "a tool's death could not be noted")),
  });
  const switches = await openSwitches(store, log);
  const state = await openToolState(store, storage);
  const catalog = await openCatalog(home, sql, store, log);
  const receipts = await openReceipts(store);
  const trust = await openTrustRules(store);
  const code = openCodeCache(home, catalog);
  const checkJson = createJsonCheck(pool);
  const downloads = createDownloads({ network });
  const foreign = await openForeignTools({
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
  const logins = openLogins(store.keyed("registry-logins"), key, mask);
  const openRegistry = createRegistryAccess({
    downloads,
    privateHosts,
    logins,
    dockerFolder: config.dockerFolder,
  });
  const sources = createSources({ ...config, downloads, openRegistry, folder: home });
  const judgeSignature = createJudge(trust);
  const runner = createRunner({
    cache: code.folder,
    catalog,
    pool,
    broker,
    receipts,
    switches,
    state,
    workspace,
    mask,
    log,
  });

  const unfollow = [
    // Values that another node set are hidden here too, and those that no tool has any more are dropped.
    store.changes.follow(SECRETS, () => void vault.known().catch(() => {})),
    store.changes.follow(TOPIC, () => void code.sweep().catch(() => {})),
  ];

  const examine = createExamination(code, pool, privateHosts, isRunCode, workspace !== undefined);

  const describe = async (tool: InstalledTool): Promise<ToolInfo> => {
    const off = await switches.off(tool);
    return { ...toInfo(tool, privateHosts), switchedOff: off && { at: off.at, why: off.why } };
  };

  /** If an installed tool and one of an MCP server have the same name, it is the installed tool's. */
  const isForeign = async (name: string) =>
    (await catalog.find(name)) === undefined && (await foreign.has(name));

  const { place, putOver, keeps, remove } = createPlacement({
    catalog,
    code,
    onRemoved: switches.forget,
    forgetState: state.forget,
    isForeign: foreign.has,
    passSecrets: vault.pass,
    secretsHeldBy: vault.heldBy,
  });
  const { choose, configure } = createSettings({ catalog, privateHosts });
  const installer = createInstaller({ catalog, code, examine, judgeSignature, place, keeps, choose });

  return {
    catalog,
    receipts,
    foreign,
    inUse: pool.inUse,
    ...runner,
    call: async (call: ToolCall, options: RunOptions): ReturnType<ForeignTools["call"]> =>
      (await isForeign(call.name)) ? foreign.call(call, options) : runner.run(call, options),
    resume: foreign.resume,
    refusal: async (call: ToolCall) =>
      (await isForeign(call.name)) ? foreign.refusal(call) : runner.refusal(call),
    async list(): Promise<readonly ToolInfo[]> {
      const installed = await Promise.all((await catalog.list()).map(describe));
      const names = new Set(installed.map(({ name }) => name));
      return [...installed, ...(await foreign.list()).filter(({ name }) => !names.has(name))];
    },
    checkJson,
    hide: mask.hide,
    code,
    switches,
    sources,
    judgeSignature,
    trust,
    logins,
    openRegistry,
    admin: createAdmin({
      catalog,
      installer,
      switches,
      receipts,
      vault,
      signIns: createSignIns(store.keyed("sign-ins"), key),
      source,
      network,
      privateHosts,
      describe,
      remove,
      configure,
      limits: broker.limits,
      sources,
      finishServerSignIn: foreign.servers.finishSignIn,
    }),
    async fetchPackage(
      what: string,
      { folder, unsigned, ...options }: Parameters<Packages["fetch"]>[1],
    ): Promise<PackageOfFiles> {
      const { evidence, ...fetched } = await sources.fetchPackage(readReference(what, folder), options);
      const { origin = fetched.origin, signature } = await admit(
        judgeSignature,
        { origin: fetched.origin, evidence },
        { unsigned },
      );
      return { ...fetched, origin, ...(signature !== undefined && { signature }) };
    },
    examine,
    installer,
    configure,
    describe,
    place,
    replay: createReplay(pool, code, privateHosts),
    keeps,
    remove,
    ...createAuthorization({ vault, catalog, network, privateHosts, environment: variable }),
    missingSecrets: (tool: InstalledTool) => missingSecrets(tool, source),
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
      for (const stop of [...unfollow, catalog.close, switches.close]) stop();
      await foreign.close();
      await pool.close();
      await broker.close();
      await network.close();
    },
  };
}

async function openCatalog(home: string, sql: Sql, store: Store, log: Log): Promise<Catalog> {
  const folders = openFolderCatalog(home);
  if (sql.engine === "postgres") {
    const rows = openRowCatalog(sql, store.changes);
    await warnOfUnused(await folders.list(), rows, toolsFolder(home), log);
    return rows;
  }
  // Before anyone looks: a shipped tool that is not there counts as removed by the user.
  await recoverTools(toolsFolder(home), log);
  return folders;
}

/** After a move from SQLite the tools in the home are still there, and nobody calls them. */
async function warnOfUnused(
  own: readonly InstalledTool[],
  shared: Catalog,
  folder: string,
  log: Log,
): Promise<void> {
  const known = new Set((await shared.list()).map(({ name }) => name));
  const unused = own.flatMap(({ name }) => (known.has(name) ? [] : [name]));
  if (unused.length > 0)
    log.warn(
      `not used in ${folder}: ${unused.join(", ")}. Nodes share the tools in the database: install what you need there with "postern tool install", and delete it here`,
    );
}
