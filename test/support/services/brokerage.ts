/** A real broker on a real store in a folder of its own, with a name service that a test decides on. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Choices } from "../../../capabilities/capabilities.ts";
import { type Broker, createBroker } from "../../../host/broker/broker.ts";
import { createCredentialSource } from "../../../host/broker/credentials.ts";
import type { BrokeredCall, Grant, ToolReply, ToolRequest } from "../../../host/broker/grant.ts";
import { createNetwork } from "../../../host/broker/network.ts";
import { createRefresh } from "../../../host/broker/oauth.ts";
import type { Tape } from "../../../host/broker/recording.ts";
import { parseCapabilities } from "../../../host/catalog/catalog.ts";
import { openVault, type ToolVault } from "../../../host/secrets/secrets.ts";
import type { AddressCheck } from "../../../host/services.ts";
import { createDocumentReader, type ReaderLimits } from "../../../kernel/files/document-reader.ts";
import { createLog } from "../../../kernel/log/log.ts";
import type { Mask } from "../../../kernel/mask/mask.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { Lookup } from "../../../kernel/net/address.ts";
import type { Outbound } from "../../../kernel/net/outbound.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { loadKeys } from "../../../plugins/store/keys/secrets-key.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { type Answering, openUpstream, type Upstream } from "../servers/upstream.ts";
import { afterThisTest } from "../undo.ts";

export interface Brokerage {
  readonly home: string;
  readonly store: OpenStore;
  /** The vault of the tool "probe", for every host of these tests. */
  readonly vault: ToolVault;
  /** The same for one user. */
  vaultOf(user: string): ToolVault;
  forgetUser(user: string): Promise<void>;
  readonly mask: Mask;
  readonly network: Outbound;
  readonly broker: Broker;
  /** Everything that was logged. */
  readonly logged: readonly string[];
  open(http: unknown, options?: CallOptions): BrokeredCall;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly trace?: NonNullable<Grant["trace"]>;
  /** Further keys of the capabilities file. */
  readonly rest?: object;
  readonly tape?: Tape;
  readonly user?: string;
  readonly ownOnly?: boolean;
  readonly tool?: string;
  readonly millis?: number;
  readonly checkAddress?: AddressCheck;
  readonly choices?: Choices;
}

export interface BrokerageOptions {
  readonly privateHosts?: readonly string[];
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  readonly lookup?: Lookup;
  readonly environment?: Readonly<Record<string, string>>;
  /** Continues in the folder of an earlier one. */
  readonly home?: string;
  /** One that others use too; otherwise one of its own. */
  readonly store?: OpenStore;
  readonly key?: Uint8Array;
  /** Of the process that reads PDFs. */
  readonly pdf?: ReaderLimits;
}

const DIGEST = "0".repeat(64);
const HOSTS = ["127.0.0.1", "a.test", "*.a.test", "api.test", "b.test", "*.test"];

export async function openBrokerage(options: BrokerageOptions = {}): Promise<Brokerage> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), "postern-broker-")));
  const store = options.store ?? openStore(join(home, "store.sqlite"));
  const mask = createMask();
  const logged: string[] = [];
  const log = createLog("debug", mask, { pretty: false, write: (line) => logged.push(line) });
  const key = options.key ?? (await loadKeys(home, undefined));
  const vault = await openVault({ keyed: store.keyed("secrets"), key, mask });
  const privateHosts = new Set(options.privateHosts ?? []);
  const network = createNetwork({
    privateHosts,
    lookup: options.lookup ?? lookupIn(options.addresses ?? {}),
  });
  const source = createCredentialSource({
    vault,
    environment: (name) => options.environment?.[name],
    refresh: createRefresh({ network, privateHosts, exclusive: store.exclusive }),
  });
  const pdf = createDocumentReader(options.pdf);
  const broker = createBroker({ network, source, privateHosts, store, log, pdf });
  return {
    home,
    store,
    vault: vault.of({ tool: "probe", digest: DIGEST, hostsOf: () => HOSTS }),
    vaultOf: (user) => vault.of({ tool: "probe", digest: DIGEST, hostsOf: () => HOSTS, user }),
    forgetUser: vault.forgetUser,
    mask,
    network,
    broker,
    logged,
    open: (http, call = {}) => broker.open(grantOf(http, call), call.tape),
    async close() {
      await network.close();
      await store.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The tool of such a grant, as it would be installed. */
export function versionOf(http: unknown, call: CallOptions = {}) {
  const grant = grantOf(http, call);
  return { ...grant, name: grant.tool };
}

function grantOf(http: unknown, call: CallOptions = {}): Grant {
  const { rest, user, ownOnly = false, tool, millis, trace, checkAddress, choices } = call;
  return {
    ...(trace && { trace }),
    ...(checkAddress && { checkAddress }),
    id: "call",
    tool: tool ?? "probe",
    digest: DIGEST,
    user: user ?? "ada",
    ownOnly,
    capabilities: parseCapabilities({ version: "1.0.0", wit_version: "0.1.0", http, ...rest }, choices),
    deadline: Date.now() + (millis ?? 300_000),
  };
}

function lookupIn(addresses: Readonly<Record<string, readonly string[]>>): Lookup {
  return async (host) => {
    const found = addresses[host];
    if (found === undefined) throw new Error(`the test knows no address of ${host}`);
    return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
}

export function ask(
  call: BrokeredCall,
  url: string,
  request: Partial<Omit<ToolRequest, "body">> & { body?: string; signal?: AbortSignal } = {},
): Promise<ToolReply> {
  const { body, signal, ...rest } = request;
  return call.send(
    {
      method: "GET",
      headersJson: "{}",
      timeoutMs: undefined,
      ...rest,
      url,
      body: body === undefined ? undefined : Buffer.from(body),
    },
    signal ?? new AbortController().signal,
  );
}

export function textOf(reply: ToolReply): string {
  return reply.ok ? Buffer.from(reply.body).toString() : `refused: ${reply.error}`;
}

export async function trackedUpstream(answer?: Answering): Promise<Upstream> {
  const server = await openUpstream(answer);
  afterThisTest(server.close);
  return server;
}

export async function trackedBrokerage(options: BrokerageOptions = {}): Promise<Brokerage> {
  const opened = await openBrokerage(options);
  afterThisTest(opened.close);
  return opened;
}

/** A broker that may reach one server, as `api.test`. */
export async function withServer(answer?: Answering, options: BrokerageOptions = {}) {
  const server = await trackedUpstream(answer);
  const host = `api.test:${server.port}`;
  const addresses = { "api.test": ["127.0.0.1"] };
  const opened = await trackedBrokerage({ privateHosts: [host], addresses, ...options });
  return { server, opened, url: `http://${host}` };
}

/** `http` of a capabilities file that allows GET and POST anywhere on a host. */
export const everywhere = (host: string) => ({
  allowlist: [{ host, path_prefix: "/", methods: ["GET", "POST"] }],
});

/** The same for `api.test`, with the secret `token` put in at a location. */
export const credential = (location: object) => ({
  ...everywhere("api.test"),
  credentials: { main: { secret_name: "token", location, host_patterns: ["api.test"] } },
});
