/** What the real broker says of a case: everything of it but the sockets, whose place a record of what would have been sent takes. */
import { type Broker, createBroker } from "../../../host/broker/broker.ts";
import type { CredentialSource } from "../../../host/broker/credentials.ts";
import { parseCapabilities } from "../../../host/catalog/catalog.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { type Lookup, parsePrivateHosts, resolveFor } from "../../../kernel/net/address.ts";
import { type Outbound, OutboundError } from "../../../kernel/net/outbound.ts";
import type { Store } from "../../../plugins/store/services.ts";
import type { Judgement, PolicyCase, Sent, World } from "./case.ts";
import { OWN_AGENT } from "./model.ts";

const log = createLog("error", createMask(), { pretty: false, write: () => {} });

/** One broker for each operator: what it knows of secrets is costly to build. */
export function createJudge(store: Store): (input: PolicyCase) => Promise<readonly Judgement[]> {
  const brokers = new Map<string, Broker>();
  const sent: Sent[] = [];
  let current: World;
  let runs = 0;
  const network = recordingNetwork(() => current, sent);

  function brokerOf(world: World): Broker {
    const key = JSON.stringify([world.secrets, world.privateHosts]);
    const privateHosts = parsePrivateHosts(world.privateHosts) ?? new Set<string>();
    const broker =
      brokers.get(key) ?? createBroker({ network, source: sourceOf(world), privateHosts, store, log });
    brokers.set(key, broker);
    return broker;
  }

  return async ({ file, world, asked }) => {
    current = world;
    const broker = brokerOf(world);
    const capabilities = parseCapabilities(file, { settings: world.settings, privateHosts: world.agreed });
    const grant = {
      id: "call",
      tool: `probe${++runs}`,
      digest: "0".repeat(64),
      capabilities,
      deadline: Date.now() + 600_000,
    };
    const judgements: Judgement[] = [];
    for (const { user, body, ...request } of asked) {
      const bytes = body === undefined ? undefined : Buffer.from(body);
      const call = broker.open({ ...grant, user });
      const { ok } = await call.send(
        { ...request, body: bytes, timeoutMs: undefined },
        new AbortController().signal,
      );
      judgements.push({ ok, sent: sent.splice(0) });
    }
    return judgements;
  };
}

function recordingNetwork(world: () => World, sent: Sent[]): Outbound {
  const lookup: Lookup = async (host) =>
    (world().addresses[host] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const never = () => Promise.reject(new Error("the broker does not use this"));
  return {
    async send({ url, method = "GET", headers = {}, body, privateHosts = new Set() }) {
      await resolveFor(url, privateHosts, lookup).catch((error: Error) => {
        throw new OutboundError("address", error.message);
      });
      const text = body === undefined ? undefined : Buffer.from(body as Uint8Array).toString();
      sent.push({ method, url: url.href, headers: withoutVersion(headers), body: text });
      const led = world().redirects[url.href];
      return {
        url,
        status: led?.status ?? 200,
        headers: led === undefined ? {} : { location: led.location },
        body: new Uint8Array(),
      };
    },
    fetch: never,
    dispatcher: never,
    close: async () => {},
  };
}

/** Of our own user agent only that it is ours. */
function withoutVersion(headers: Readonly<Record<string, string>>): Record<string, string> {
  const agent = headers["user-agent"];
  return agent?.startsWith("Postern/") ? { ...headers, "user-agent": OWN_AGENT } : { ...headers };
}

function sourceOf({ secrets }: World): CredentialSource {
  return {
    has: async (_holder, name) => name in secrets,
    value: async (_holder, name) => secrets[name],
    question: async () => undefined,
    known: async () => Object.values(secrets),
  };
}
