/** The parts of the tool host put together. Everything heavy is imported from here, and here only. */

import type { PrivateHosts } from "../kernel/net/address.ts";
import type { Log, Mask, Store, ToolAdmin, ToolInfo } from "../kernel/plugin.ts";
import { loadKeys } from "../kernel/store/keys/secrets-key.ts";
import { createAdmin } from "./admin.ts";
import { createBroker } from "./broker/broker.ts";
import { createCredentialSource, missingSecrets } from "./broker/credentials.ts";
import { createMcpAccess, type McpAccess } from "./broker/mcp-access.ts";
import { createNetwork } from "./broker/network.ts";
import { createReplay, type ReplayCandidate } from "./calls/answers.ts";
import { openReceipts, type Receipts } from "./calls/receipts.ts";
import { createRouting, type Routing } from "./calls/routing.ts";
import { createRunner, type Runner } from "./calls/runner.ts";
import { openSwitches, type Switches } from "./calls/switches.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import { createExamination, type Examine } from "./catalog/examination.ts";
import { isReservedName } from "./catalog/install.ts";
import { openCatalog } from "./catalog/open.ts";
import { createPlacement, type Placement } from "./catalog/placement.ts";
import { provideShipped, SHIPPED_LOCK } from "./catalog/shipped.ts";
import { repairShipped } from "./catalog/shipped-repair.ts";
import { openToolTables, TOPIC } from "./catalog/storage/tables.ts";
import { toInfo } from "./catalog/tool-info.ts";
import { type CodeCache, openCodeCache } from "./compile/code-cache.ts";
import { type ForeignTools, openForeignTools } from "./mcp/foreign-tools.ts";
import { type CheckJson, createJsonCheck } from "./sandbox/json-check.ts";
import { createPool, type Pool } from "./sandbox/pool.ts";
import { type Authorization, createAuthorization } from "./secrets/auth.ts";
import { namedSecrets } from "./secrets/named-secrets.ts";
import { createRefresh } from "./secrets/oauth.ts";
import { openVault } from "./secrets/secrets.ts";
import { createSignIns } from "./secrets/sign-ins.ts";
import { createDownloads } from "./sources/download.ts";
import { createRegistryAccess, type OpenRegistry } from "./sources/oci/access.ts";
import { type Logins, openLogins } from "./sources/oci/logins.ts";
import { createSources, type Sources } from "./sources/sources.ts";
import { createJudge, type JudgeSignature } from "./trust/judge.ts";
import { openTrustRules, type TrustRules } from "./trust/rules.ts";

/** Of the store; also the topic under which other nodes hear of a new one. */
const SECRETS = "secrets";

// For the `tool` commands.
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
  readonly secretsKey: string | undefined;
  /** Of the key that tools are signed with, where it is encrypted. */
  readonly signingPassword?: string | undefined;
  /** Calls of one tool that compute at once; undefined for as many as there are cores. */
  readonly workers: number | undefined;
  /** Processes of tools at once. */
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
  /** Of Postern, which it tells MCP servers. */
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
  /** Of an installed tool. */
  readonly run: Runner["run"];
  readonly warmUp: Runner["warmUp"];
  readonly inUse: Pool["inUse"];
  readonly checkJson: CheckJson;
  /** A text without the values of known secrets. */
  readonly hide: Mask["hide"];
  readonly code: CodeCache;
  readonly switches: Switches;
  readonly admin: Required<ToolAdmin>;
  readonly mcpAccess: McpAccess;
  readonly sources: Sources;
  /** Sign-ins to registries. */
  readonly logins: Logins;
  readonly openRegistry: OpenRegistry;
  /** Who made what a source answered with; asked before it is examined. */
  readonly judgeSignature: JudgeSignature;
  /** Whose signature is needed for which tools. */
  readonly trust: TrustRules;
  readonly examine: Examine;
  /** A tool as others see it. */
  describe(tool: InstalledTool): Promise<ToolInfo>;
  /** Plays recorded calls with a component that is not installed: no network, no secrets. */
  readonly replay: ReplayCandidate;
  /** Of the secrets that a tool names, those that are not set. */
  missingSecrets(tool: InstalledTool): Promise<readonly string[]>;
  /** Puts the tools that come with Postern into a home that was never offered them. */
  provideShipped(progress: (line: string) => void, signal?: AbortSignal): Promise<void>;
  /** Puts one of them back whose installed copy is broken. */
  repairShipped(name: string, progress: (line: string) => void): Promise<void>;
  close(): Promise<void>;
}

export async function openToolHost({ config, home, store, mask, log }: HostParts): Promise<ToolHost> {
  const { privateHosts, variable } = config;
  const key = await loadKeys(home, config.secretsKey);
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
  const mcpAccess = createMcpAccess({ vault, store, key, mask, network, privateHosts });
  const pool = createPool({
    ...(config.workers !== undefined && { size: config.workers }),
    ...(config.processes !== undefined && { processes: config.processes }),
    ...(config.memoryBytes !== undefined && { memoryBytes: config.memoryBytes }),
    keepsSpare: config.keepsSpare ?? false,
    onDeath: (component, why) =>
      void runner
        .died(component, why)
        .catch((error) => log.error({ error }, "a tool's death could not be noted")),
  });
  const switches = await openSwitches(store, log);
  const catalog = await openCatalog(home, sql, store, log);
  // Secrets from before they had owners go to the first tool that names them; others have to ask.
  const named = namedSecrets(await catalog.list());
  await vault.adopt([...named.keys()], (holder) => named.get(holder) ?? []);
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
    access: mcpAccess,
    receipts,
    checkJson,
    privateHosts,
    isTaken: async (name) => isReservedName(name) || (await catalog.find(name)) !== undefined,
    path: config.path ?? "",
    folder: home,
    version: config.version ?? "0",
    serves: config.keepsSpare ?? false,
  });
  const downloads = createDownloads({ privateHosts });
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
    return { ...toInfo(tool, privateHosts), ...(off && { switchedOff: { at: off.at, why: off.why } }) };
  };

  const { place, putOver, keeps, remove } = createPlacement({
    catalog,
    code,
    switches,
    isForeign: foreign.has,
    passSecrets: vault.pass,
    secretsHeldBy: vault.heldBy,
  });

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
    mcpAccess,
    sources,
    judgeSignature,
    trust,
    logins,
    openRegistry,
    admin: createAdmin({
      catalog,
      code,
      switches,
      receipts,
      vault,
      signIns: createSignIns(store.keyed("sign-ins"), key),
      source,
      network,
      privateHosts,
      examine,
      describe,
      place,
      keeps,
      remove,
      limits: broker.limits,
      sources,
      judgeSignature,
      finishServerSignIn: foreign.credentials.finishSignIn,
    }),
    examine,
    describe,
    place,
    replay: createReplay({ pool, code, privateHosts }),
    keeps,
    remove,
    ...createAuthorization({ vault, catalog, network, privateHosts, environment: variable }),
    missingSecrets: (tool) => missingSecrets(tool, source),
    async provideShipped(progress, signal = new AbortController().signal) {
      if (!config.shipped) return;
      // By one node: what the next ones find installed they do not examine.
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
      await downloads.close();
      await pool.close();
      await broker.close();
      await mcpAccess.close();
      await network.close();
    },
  };
}
