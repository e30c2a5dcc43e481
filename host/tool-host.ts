/** The parts of the tool host put together. Everything heavy is imported from here, and here only. */

import type { PrivateHosts } from "../kernel/net/address.ts";
import {
  Fault,
  type Log,
  type Mask,
  type Store,
  type ToolAdmin,
  type ToolCall,
  type ToolInfo,
} from "../kernel/plugin.ts";
import { loadKeys } from "../kernel/store/keys/secrets-key.ts";
import { createAdmin } from "./admin.ts";
import { createBroker } from "./broker/broker.ts";
import { createCredentialSource } from "./broker/credentials.ts";
import { createMcpAccess, type McpAccess } from "./broker/mcp-access.ts";
import { createNetwork } from "./broker/network.ts";
import { type Answered, answerRecordings } from "./calls/answers.ts";
import { openReceipts, type Receipts } from "./calls/receipts.ts";
import { createRunner, type Runner, type RunOptions } from "./calls/runner.ts";
import { openSwitches, type Switches } from "./calls/switches.ts";
import { type Candidate, type Catalog, digestOf, type InstalledTool } from "./catalog/catalog.ts";
import { examine, type Introduce, isReservedName } from "./catalog/install.ts";
import { openCatalog } from "./catalog/open.ts";
import { provideShipped, SHIPPED_LOCK } from "./catalog/shipped.ts";
import { repairShipped } from "./catalog/shipped-repair.ts";
import { openToolTables, TOPIC } from "./catalog/storage/tables.ts";
import { toInfo } from "./catalog/tool-info.ts";
import { type CodeCache, openCodeCache } from "./compile/code-cache.ts";
import { inspect } from "./compile/component.ts";
import { type ComponentSource, createComponent, knownOutline, prepare } from "./compile/transpile.ts";
import type { ForeignRun } from "./mcp/calls/calls.ts";
import { type ForeignTools, openForeignTools } from "./mcp/foreign-tools.ts";
import { type CheckJson, createJsonCheck } from "./sandbox/json-check.ts";
import { createPool, type Pool } from "./sandbox/pool.ts";
import { type Authorized, authorizeTool, setUpTool } from "./secrets/auth.ts";
import type { Prompt } from "./secrets/browser-sign-in.ts";
import { holderOf } from "./secrets/holder.ts";
import { namedSecrets } from "./secrets/named-secrets.ts";
import { createRefresh } from "./secrets/oauth.ts";
import { openVault } from "./secrets/secrets.ts";
import { createSignIns } from "./secrets/sign-ins.ts";
import { createDownloads } from "./sources/download.ts";
import { createRegistryAccess, type OpenRegistry } from "./sources/oci/access.ts";
import { type Logins, openLogins } from "./sources/oci/logins.ts";
import { createSources, type Sources } from "./sources/sources.ts";
import { addSeen } from "./sources/updates/release.ts";
import { createJudge, type JudgeSignature } from "./trust/judge.ts";
import { openTrustRules, type TrustRules } from "./trust/rules.ts";

/** Of the store; also the topic under which other nodes hear of a new one. */
const SECRETS = "secrets";

// For the `tool` commands.
declare module "../kernel/vocabulary/services.ts" {
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

export interface ToolHost {
  readonly catalog: Catalog;
  /** Tools of MCP servers that others run. */
  readonly foreign: ForeignTools;
  readonly receipts: Receipts;
  /** Of an installed tool. */
  readonly run: Runner["run"];
  /** Of any tool. */
  call(call: ToolCall, options: RunOptions): Promise<ForeignRun>;
  /** Goes on with a call that asked something; only tools of MCP servers do. */
  readonly resume: ForeignTools["resume"];
  readonly refusal: Runner["refusal"];
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
  /** Every check of an install; installs nothing, and where it throws leaves nothing behind. */
  examine(
    component: Uint8Array,
    capabilitiesText: string,
    progress?: (line: string) => void,
  ): Promise<Candidate>;
  /** All tools as others see them, installed or of an MCP server. */
  list(): Promise<readonly ToolInfo[]>;
  /** A tool as others see it. */
  describe(tool: InstalledTool): Promise<ToolInfo>;
  /** Puts a candidate into the catalog; one that replaces a tool keeps the secrets that were given to it. */
  place(name: string, candidate: Candidate, force: boolean): Promise<InstalledTool>;
  /** Plays recorded calls with a component that is not installed: no network, no secrets. */
  replay(
    candidate: Candidate,
    recordings: readonly { readonly name: string; readonly text: string }[],
  ): Promise<readonly Answered[]>;
  /** Sentences to agree to before that: the secrets that would be kept. */
  keeps(name: string): Promise<readonly string[]>;
  /** False where there is no such tool. Calls under way finish. */
  remove(name: string): Promise<boolean>;
  /** Gets the credential of a tool: from the environment, by signing in, or from the person. */
  authorize(tool: InstalledTool, prompt: Prompt): Promise<Authorized>;
  /** Asks for the secrets a tool needs beforehand; answers the names of those that were entered. */
  setUp(tool: InstalledTool, prompt: Prompt): Promise<readonly string[]>;
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

  const check: ToolHost["examine"] = async (component, capabilitiesText, progress = () => {}) => {
    try {
      const introduce: Introduce = async (bytes, sha256, { limits: { memoryMb } }) => {
        const source: ComponentSource = {
          sha256,
          read: async () => bytes,
          cache: code.folder,
          memoryMb,
          onProgress: progress,
        };
        await inspect(bytes, await knownOutline(source));
        // Beforehand, since a slow machine may transpile for longer than a component may describe itself.
        await prepare(source);
        return pool.describe(createComponent(source));
      };
      return await examine(component, capabilitiesText, introduce, privateHosts);
    } catch (error) {
      await code.drop(digestOf(component));
      throw error;
    }
  };

  const describe: ToolHost["describe"] = async (tool) => {
    const off = await switches.off(tool);
    return { ...toInfo(tool, privateHosts), ...(off && { switchedOff: { at: off.at, why: off.why } }) };
  };

  const place: ToolHost["place"] = async (name, candidate, force) => {
    if (await foreign.has(name))
      throw new Fault("invalid", "tool_exists", `${name} is the name of an MCP server's tool.`, {
        param: "name",
      });
    const before = await catalog.find(name);
    const seen = candidate.seen ?? addSeen(before, candidate);
    const complete = { ...candidate, ...(seen.length > 0 && { seen }) };
    const tool = await catalog.put(name, complete, force ? before : undefined);
    if (before === undefined) return tool;
    await vault.pass(holderOf(before), holderOf(tool));
    if (before.digest !== tool.digest) await code.drop(before.digest);
    return tool;
  };

  /** Where both have the name, it is the installed tool's. */
  const isForeign = async (name: string) =>
    (await catalog.find(name)) === undefined && (await foreign.has(name));

  const keeps: ToolHost["keeps"] = async (name) => {
    const tool = await catalog.find(name);
    const held = tool === undefined ? [] : await vault.heldBy(holderOf(tool));
    return held.map((secret) => `keeps using \`${secret}\`, which the installed version was given`);
  };

  const sharersOf = async ({ name, capabilities }: InstalledTool) => {
    const sharers = await vault.sharers(name, capabilities.auth?.secretName ?? "");
    const tools = (await catalog.list()).filter((tool) => sharers.includes(tool.name));
    return tools.map((tool) => tool.capabilities);
  };

  const remove: ToolHost["remove"] = async (name) => {
    const tool = await catalog.find(name);
    const isRemoved = await catalog.remove(name);
    if (tool !== undefined) await code.drop(tool.digest);
    if (isRemoved) await switches.forget(name);
    return isRemoved;
  };

  return {
    catalog,
    receipts,
    foreign,
    inUse: pool.inUse,
    ...runner,
    call: async (call, options) =>
      (await isForeign(call.name)) ? foreign.call(call, options) : runner.run(call, options),
    resume: foreign.resume,
    refusal: async (call) => ((await isForeign(call.name)) ? foreign.refusal(call) : runner.refusal(call)),
    async list() {
      const installed = await Promise.all((await catalog.list()).map(describe));
      const names = new Set(installed.map(({ name }) => name));
      return [...installed, ...(await foreign.list()).filter(({ name }) => !names.has(name))];
    },
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
      examine: check,
      describe,
      place,
      keeps,
      remove,
      limits: broker.limits,
      sources,
      judgeSignature,
      finishServerSignIn: foreign.credentials.finishSignIn,
    }),
    examine: check,
    describe,
    place,
    async replay({ component: bytes, digest, capabilities, schema }, recordings) {
      const { memoryMb } = capabilities.limits;
      const component = createComponent({
        sha256: digest,
        read: async () => bytes,
        cache: code.folder,
        memoryMb,
      });
      try {
        return await answerRecordings({ pool, component, capabilities, privateHosts }, schema, recordings);
      } finally {
        pool.forget(component);
      }
    },
    keeps,
    remove,
    authorize: async (tool, prompt) =>
      authorizeTool({
        tool: tool.name,
        capabilities: tool.capabilities,
        sharers: await sharersOf(tool),
        vault: vault.of(holderOf(tool)),
        network,
        privateHosts,
        environment: variable,
        prompt,
      }),
    setUp: (tool, prompt) =>
      setUpTool({ capabilities: tool.capabilities, secrets: vault.of(holderOf(tool)).secrets, prompt }),
    async missingSecrets(tool) {
      const { http, auth, requiredSecrets } = tool.capabilities;
      const named = [
        ...(http?.credentials ?? []).map(({ secretName }) => secretName),
        ...requiredSecrets.map(({ name }) => name),
      ];
      const holder = holderOf(tool);
      const missing = await Promise.all(
        [...new Set(named)].map(async (name) => ((await source.has(holder, name, auth)) ? [] : [name])),
      );
      return missing.flat();
    },
    async provideShipped(progress, signal = new AbortController().signal) {
      if (!config.shipped) return;
      // By one node: what the next ones find installed they do not examine.
      await store.exclusive(SHIPPED_LOCK, () =>
        provideShipped({
          catalog,
          examine: (bytes, text) => check(bytes, text, progress),
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
          examine: (bytes, text) => check(bytes, text, progress),
          async putOver(name, candidate, { digest, tool: before }) {
            const tool = await catalog.putOver(name, candidate, digest);
            if (before !== undefined) await vault.pass(holderOf(before), holderOf(tool));
          },
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
