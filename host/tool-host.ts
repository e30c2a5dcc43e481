/** The parts of the tool host put together. Everything heavy is imported from here, and here only. */

import type { PrivateHosts, ToolAdmin } from "../kernel/kit.ts";
import type { Log, Mask, Store, ToolInfo } from "../kernel/plugin.ts";
import { createAdmin } from "./admin.ts";
import { type Authorization, createAuthorization } from "./authorization.ts";
import { createBroker } from "./broker/broker.ts";
import { createCredentialSource, missingSecrets } from "./broker/credentials.ts";
import { createNetwork } from "./broker/network.ts";
import { createRefresh } from "./broker/oauth.ts";
import { openReceipts, type Receipts } from "./calls/receipts.ts";
import { createReplay, type ReplayCandidate } from "./calls/replay.ts";
import { createRouting, type Routing } from "./calls/routing.ts";
import { createRunner, type Runner } from "./calls/runner.ts";
import { openSwitches, type Switches } from "./calls/switches.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import { type CodeCache, openCodeCache } from "./catalog/code-cache.ts";
import { createExamination, type Examine } from "./catalog/examination.ts";
import { isReservedName } from "./catalog/install.ts";
import { openCatalog } from "./catalog/open.ts";
import { createPlacement, type Placement } from "./catalog/placement.ts";
import { provideShipped, SHIPPED_LOCK } from "./catalog/shipped.ts";
import { repairShipped } from "./catalog/shipped-repair.ts";
import { openToolTables, TOPIC } from "./catalog/storage/tables.ts";
import { toInfo } from "./catalog/tool-info.ts";
import { createInstaller, type Installer } from "./installer.ts";
import { type ForeignTools, openForeignTools } from "./mcp/foreign-tools.ts";
import { type CheckJson, createJsonCheck } from "./sandbox/json-check.ts";
import { createPool, type Pool } from "./sandbox/pool.ts";
import { openVault } from "./secrets/secrets.ts";
import { createSignIns } from "./secrets/sign-ins.ts";
import { createDownloads } from "./sources/download.ts";
import { createRegistryAccess, type OpenRegistry } from "./sources/oci/access.ts";
import { type Logins, openLogins } from "./sources/oci/logins.ts";
import { createSources, type Sources } from "./sources/sources.ts";
import { createJudge, type JudgeSignature } from "./trust/judge.ts";
import { openTrustRules, type TrustRules } from "./trust/rules.ts";

/** The namespace in the store; also the topic that tells other nodes of a new secret. */
const SECRETS = "secrets";

declare module "../kernel/plugin.ts" {
  interface Services {
    toolHost: {
      open(): Promise<ToolHost>;
      readonly privateHosts: PrivateHosts;
      readonly signingPassword: string | undefined;
    };
  }
}

export interface HostConfig {
  readonly privateHosts: PrivateHosts;
  /** False where the operator wants none of the tools that come with Postern. */
  readonly shipped: boolean;
  /** Opens the key that tools are signed with, where it is encrypted. */
  readonly signingPassword?: string | undefined;
  /** Calls of one tool that compute at once; undefined for as many as there are cores. */
  readonly workers: number | undefined;
  readonly processes?: number;
  /** What all of them may hold together; half of the machine's memory where it is not said. */
  readonly memoryBytes?: number | undefined;
  /** True where a process stands ready for the next tool. */
  readonly keepsSpare?: boolean;
  /** Where the commands of MCP servers are looked for. */
  readonly path?: string;
  /** Where Docker keeps its sign-ins, where that is not the usual place. */
  readonly dockerFolder?: string | undefined;
  /** Where tools are listed: URLs, paths and the word for our own list. */
  readonly indexes?: readonly string[];
  readonly npmRegistry?: string | undefined;
  /** Postern's version, which MCP servers are told. */
  readonly version?: string;
  /** Reads the environment variable that a capabilities file names. */
  readonly variable: (name: string) => string | undefined;
}

export interface HostParts {
  readonly config: HostConfig;
  readonly home: string;
  readonly store: Store;
  readonly mask: Mask;
  readonly log: Log;
}

export interface ToolHost extends Routing, Pick<Placement, "place" | "keeps" | "remove">, Authorization {
  readonly catalog: Catalog;
  /** Tools of MCP servers that others run. */
  readonly foreign: ForeignTools;
  readonly receipts: Receipts;
  readonly run: Runner["run"];
  readonly warmUp: Runner["warmUp"];
  readonly inUse: Pool["inUse"];
  readonly checkJson: CheckJson;
  /** A text without the values of known secrets. */
  readonly hide: Mask["hide"];
  readonly code: CodeCache;
  readonly switches: Switches;
  readonly admin: Required<ToolAdmin>;
  readonly sources: Sources;
  readonly logins: Logins;
  readonly openRegistry: OpenRegistry;
  /** Who made what a source answered with; asked before it is examined. */
  readonly judgeSignature: JudgeSignature;
  /** Whose signature is needed for which tools. */
  readonly trust: TrustRules;
  readonly examine: Examine;
  readonly installer: Installer;
  describe(tool: InstalledTool): Promise<ToolInfo>;
  /** Plays recorded calls with a component that is not installed: no network, no secrets. */
  readonly replay: ReplayCandidate;
  /** The secrets that a tool names and that are not set. */
  missingSecrets(tool: InstalledTool): Promise<readonly string[]>;
  /** Puts the tools that come with Postern into a home that was never offered them. */
  provideShipped(progress: (line: string) => void, signal?: AbortSignal): Promise<void>;
  /** Puts one of them back whose installed copy is broken. */
  repairShipped(name: string, progress: (line: string) => void): Promise<void>;
  close(): Promise<void>;
}

export async function openToolHost({ config, home, store, mask, log }: HostParts): Promise<ToolHost> {
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
  const catalog = await openCatalog(home, sql, store, log);
  const receipts = await openReceipts(store);
  const trust = await openTrustRules(store);
  const code = openCodeCache(home, catalog);
  const checkJson = createJsonCheck(pool);
  const foreign = await openForeignTools({
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
  const runner = createRunner({ cache: code.folder, catalog, pool, broker, receipts, switches, mask, log });

  const unfollow = [
    // What another node set is hidden here too, and what no tool has any more is not kept.
    store.changes.follow(SECRETS, () => void vault.known().catch(() => {})),
    store.changes.follow(TOPIC, () => void code.sweep().catch(() => {})),
  ];

  const examine = createExamination({ code, pool, privateHosts });

  const describe: ToolHost["describe"] = async (tool) => {
    const off = await switches.off(tool);
    return { ...toInfo(tool, privateHosts), switchedOff: off && { at: off.at, why: off.why } };
  };

  const { place, putOver, keeps, remove } = createPlacement({
    catalog,
    code,
    onRemoved: switches.forget,
    isForeign: foreign.has,
    passSecrets: vault.pass,
    secretsHeldBy: vault.heldBy,
  });
  const installer = createInstaller({ catalog, code, examine, judgeSignature, place, keeps });

  return {
    catalog,
    receipts,
    foreign,
    inUse: pool.inUse,
    ...runner,
    ...createRouting({ catalog, runner, foreign, describe }),
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
      limits: broker.limits,
      sources,
      finishServerSignIn: foreign.servers.finishSignIn,
    }),
    examine,
    installer,
    describe,
    place,
    replay: createReplay({ pool, code, privateHosts }),
    keeps,
    remove,
    ...createAuthorization({ vault, catalog, network, privateHosts, environment: variable }),
    missingSecrets: (tool) => missingSecrets(tool, source),
    async provideShipped(progress, signal = new AbortController().signal) {
      if (!config.shipped) return;
      // One node does it: the next ones find the tools installed and do not examine them.
      await store.exclusive(SHIPPED_LOCK, () =>
        provideShipped({
          catalog,
          examine: (bytes, text) => examine(bytes, text, progress),
          place,
          progress,
          signal,
        }),
      );
    },
    repairShipped: (name, progress) =>
      store.exclusive(SHIPPED_LOCK, () =>
        repairShipped(name, {
          catalog,
          examine: (bytes, text) => examine(bytes, text, progress),
          putOver,
          progress,
          signal: new AbortController().signal,
        }),
      ),
    async close() {
      for (const stop of [...unfollow, catalog.close, switches.close]) stop();
      await foreign.close();
      await pool.close();
      await broker.close();
      await network.close();
    },
  };
}
