/** The parts of the tool host put together on a folder and a store. What a service adds comes in through ports. Everything heavy is imported from here. */

import type { PrivateHosts } from "../kernel/kit/outbound.ts";
import type { Log, Mask, Sql, ToolInfo } from "../kernel/plugin.ts";
import type { Store, UserStorage } from "../plugins/store/services.ts";
import { createBroker } from "./broker/broker.ts";
import { createCredentialSource } from "./broker/credentials.ts";
import { createNetwork } from "./broker/network.ts";
import { createRefresh } from "./broker/oauth.ts";
import type { FileStore } from "./calls/files/sources.ts";
import { openReceipts } from "./calls/receipts.ts";
import { createRunner } from "./calls/runner.ts";
import { openToolState } from "./calls/state.ts";
import { openSwitches } from "./calls/switches.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import { openCodeCache } from "./catalog/code-cache.ts";
import { createExamination } from "./catalog/install.ts";
import { createOwnSettings, TOOL_SETTINGS } from "./catalog/own-settings.ts";
import { createPlacement } from "./catalog/placement.ts";
import { createSettings } from "./catalog/settings.ts";
import { isRunCode } from "./catalog/shipped.ts";
import { openFolderCatalog, toolsFolder } from "./catalog/storage/folders.ts";
import { recoverTools } from "./catalog/storage/recovery.ts";
import { openRowCatalog } from "./catalog/storage/rows.ts";
import { openToolTables, TOPIC } from "./catalog/storage/tables.ts";
import { toInfo } from "./catalog/tool-info.ts";
import { createInstaller } from "./installer.ts";
import { createPool } from "./sandbox/pool.ts";
import { SECRETS } from "./secrets/entry.ts";
import { openVault } from "./secrets/secrets.ts";
import { createSetup } from "./setup.ts";
import { createDownloads } from "./sources/download.ts";
import { createRegistryAccess } from "./sources/oci/access.ts";
import { openLogins } from "./sources/oci/logins.ts";
import { createSources } from "./sources/sources.ts";
import { createJudge } from "./trust/judge.ts";
import { openTrustRules } from "./trust/rules.ts";

export interface ToolHostConfig {
  readonly privateHosts: PrivateHosts;
  readonly workers: number | undefined;
  readonly processes?: number;
  readonly memoryBytes?: number | undefined;
  readonly keepsSpare?: boolean;
  readonly dockerFolder?: string | undefined;
  readonly indexes?: readonly string[];
  readonly npmRegistry?: string | undefined;
  readonly variable: (name: string) => string | undefined;
}

export interface ToolHostPorts {
  readonly config: ToolHostConfig;
  /** The folder of the tools, their compiled code and the indexes that are named by a path. */
  readonly home: string;
  readonly store: Store;
  /** What a user may keep in all; without it only each tool's own quota holds. */
  readonly storage?: Pick<UserStorage, "take">;
  /** Absent where it is off: then no tool has files. */
  readonly workspace?: FileStore | undefined;
  readonly mask: Mask;
  readonly log: Log;
  /** Names that something else has already. */
  isTaken?(name: string): Promise<boolean>;
}

export type ToolHostParts = Awaited<ReturnType<typeof createToolHost>>;

const NOT_TAKEN = async () => false;

export async function createToolHost(ports: ToolHostPorts) {
  const { config, home, store, storage, workspace, mask, log, isTaken = NOT_TAKEN } = ports;
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
  const downloads = createDownloads({ network });
  const logins = openLogins(store.keyed("registry-logins"), key, mask);
  const openRegistry = createRegistryAccess({
    downloads,
    privateHosts,
    logins,
    dockerFolder: config.dockerFolder,
  });
  const sources = createSources({ ...config, downloads, openRegistry, folder: home });
  const judgeSignature = createJudge(trust);
  const { choose, configure } = createSettings({ catalog, privateHosts });
  const ownSettings = createOwnSettings({ keyed: store.keyed(TOOL_SETTINGS), choose });
  const runner = createRunner({
    cache: code.folder,
    catalog,
    pool,
    broker,
    receipts,
    switches,
    ownSettings,
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

  const describe = async (tool: InstalledTool, user?: string): Promise<ToolInfo> => {
    const [off, needs] = await Promise.all([switches.off(tool), setup.needs(tool, user)]);
    const switchedOff = off && { at: off.at, why: off.why };
    return { ...toInfo(tool, privateHosts), switchedOff, ...(needs && { needs }) };
  };

  const { place, putOver, keeps, remove } = createPlacement({
    catalog,
    code,
    onRemoved: switches.forget,
    forgetState: async (name) => {
      await state.forget(name);
      await ownSettings.forgetTool(name);
      await vault.forgetOwn(name);
    },
    isTaken,
    passSecrets: vault.pass,
    secretsHeldBy: vault.heldBy,
  });
  const installer = createInstaller({ catalog, code, examine, judgeSignature, place, keeps, choose });
  const setup = createSetup({ catalog, vault, source, configure, ownSettings });

  return {
    catalog,
    receipts,
    inUse: pool.inUse,
    ...runner,
    hide: mask.hide,
    code,
    switches,
    ownSettings,
    sources,
    judgeSignature,
    trust,
    logins,
    openRegistry,
    examine,
    installer,
    setup,
    configure,
    describe,
    place,
    putOver,
    keeps,
    remove,
    vault,
    source,
    pool,
    network,
    downloads,
    limits: broker.limits,
    list: async (user?: string): Promise<readonly ToolInfo[]> =>
      Promise.all((await catalog.list()).map((tool) => describe(tool, user))),
    close: (): Promise<void> =>
      runEvery([...unfollow, catalog.close, switches.close, pool.close, broker.close, network.close]),
  };
}

/** Runs the steps in turn, also those after one that fails, and throws the first error. */
export async function runEvery(steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps)
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
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
