/** Puts credentials into requests to MCP servers: each belongs to one address, and nothing of it comes back. */

import type { FetchLike } from "@modelcontextprotocol/client";
import {
  type FetchBounds,
  type Outbound,
  OutboundError,
  type PrivateHosts,
} from "../../../kernel/kit/outbound.ts";
import { createHidingStream, createMatcher, type Mask } from "../../../kernel/kit/secrets.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { Store } from "../../../plugins/store/services.ts";
import { createMatcherCache, isSpent } from "../../broker/credentials.ts";
import { createRefresh } from "../../broker/oauth.ts";
import { Refused, readUrl } from "../../broker/policy.ts";
import { looksRandom, type SecretRecord, valuesOf } from "../../secrets/entry.ts";
import type { SecretSet } from "../../secrets/secrets.ts";
import { type Challenge, createChallenges, readChallenge } from "./challenges.ts";
import { createMcpSignIn, type McpSignInParts, readWhole, stillNames } from "./sign-in.ts";
import {
  addressOf,
  asks,
  exceptionsOf,
  holderOf,
  type McpTarget,
  nameOf,
  placeOf,
  toolOf,
} from "./target.ts";

export type McpAccess = ReturnType<typeof createMcpAccess>;

export interface McpAccessParts extends Omit<McpSignInParts, "challenges" | "fetch"> {
  readonly store: Pick<Store, "keyed" | "exclusive">;
  readonly network: Outbound;
  readonly privateHosts: PrivateHosts;
  readonly timeoutMs?: number;
}

const SIGN_IN_TIMEOUT_MS = 30_000;
// Metadata, registrations and tokens are small.
const MAX_SIGN_IN_BYTES = 1024 * 1024;

export function createMcpAccess(parts: McpAccessParts) {
  const { vault, store, mask, network, privateHosts, timeoutMs = SIGN_IN_TIMEOUT_MS } = parts;
  const checked = async (url: string | URL, init: RequestInit | undefined, bounds: FetchBounds) =>
    network.fetch(readUrl(String(url), bounds.privateHosts ?? privateHosts), init, bounds);
  const refresh = createRefresh({
    network,
    privateHosts,
    exclusive: store.exclusive,
    signInWith: "postern mcp auth",
  });
  const challenges = createChallenges(store.keyed("mcp-challenges"));
  const secretsKnown = createMatcherCache(vault.known);
  const signInFetch: FetchLike = (url, init) =>
    checked(url, init, { timeoutMs, maxBytes: MAX_SIGN_IN_BYTES });
  const signIn = createMcpSignIn({ ...parts, challenges, fetch: signInFetch });

  const vaultOf = (server: McpTarget) => vault.of(holderOf(server));

  const send = (
    server: McpTarget,
    url: string | URL,
    init: RequestInit,
    record: SecretRecord | undefined,
  ) => {
    const headers = new Headers(init.headers);
    const { location = { type: "bearer" } } = server.credential ?? {};
    const isHeader = location.type === "header" && record?.oauth === undefined;
    headers.delete("authorization");
    if (record !== undefined)
      headers.set(
        isHeader ? location.name : "authorization",
        isHeader ? `${location.prefix}${record.value}` : `Bearer ${record.value}`,
      );
    return checked(
      url,
      { ...init, headers },
      {
        mask: hiding(mask, record),
        maxBytes: server.answerBytes,
        privateHosts: exceptionsOf(server, privateHosts),
      },
    );
  };

  async function renewAfterRefusal(
    server: McpTarget,
    name: string,
    record: SecretRecord,
    challenge: Challenge,
  ): Promise<SecretRecord | undefined> {
    const { issuer, refreshToken } = record.oauth ?? {};
    if (issuer === undefined || refreshToken === undefined) return undefined;
    const { ok, named } = await stillNames(issuer, server, challenge, readWhole(signInFetch));
    if (!ok)
      throw asks(
        server,
        `now names another authorization server (${visibleLine(named.join(", ")).slice(0, 200)}) than the one that gave out its token (${issuer}); nothing was sent there`,
      );
    const fresh = await refresh(vaultOf(server).values, name, record, record.value);
    return fresh.value === record.value ? undefined : fresh;
  }

  async function request(
    server: McpTarget,
    user: string,
    url: string | URL,
    init: RequestInit,
  ): Promise<Response> {
    // A model that came to know a secret must not give it to a server.
    if (typeof init.body === "string" && (await secretsKnown()).finds(init.body)) {
      const message = `The request to ${server.name} holds a stored secret; it was not sent.`;
      throw new Fault("forbidden", "secret_in_request", message);
    }
    const name = nameOf(server, user);
    const { values } = vaultOf(server);
    const held = await values.read(name);
    if (held === undefined && server.perUser) throw asks(server, "has no sign-in of yours", user);
    let record = held && (await refresh(values, name, held));
    let response = await send(server, url, init, record);
    if (response.status !== 401 && response.status !== 403) return response;
    let challenge = await readChallenge(response);
    if (response.status === 401 && record !== undefined) {
      const fresh = await renewAfterRefusal(server, name, record, challenge);
      if (fresh !== undefined) {
        await response.body?.cancel();
        record = fresh;
        response = await send(server, url, init, record);
        challenge = await readChallenge(response);
      }
    }
    const isScope = response.status === 403 && challenge.error === "insufficient_scope";
    if (response.status !== 401 && !isScope) return response;
    await response.body?.cancel();
    const had = record?.oauth?.scopes ?? [];
    if (isScope && (challenge.scopes ?? []).every((scope) => had.includes(scope))) {
      const message = `${server.name} refuses this, though it was signed in for it.`;
      throw new Fault("forbidden", "scope_refused", message);
    }
    await challenges.note(placeOf(server, user), challenge);
    if (isScope)
      throw asks(
        server,
        `wants to be signed in for more (${visibleLine((challenge.scopes ?? []).join(" ")).slice(0, 200)})`,
        user,
      );
    throw asks(server, record === undefined ? "wants you to sign in" : "no longer takes your sign-in", user);
  }

  return {
    /**
     * For this server's address alone. Throws a fault of kind `unauthenticated` where this user has to sign in, `forbidden` where
     * the server refuses what signing in again would not change, `unavailable` where it cannot be reached.
     */
    fetchFor(server: McpTarget, user: string): FetchLike {
      const own = addressOf(server.url);
      return async (url, init = {}) => {
        // A server's credential goes to no other address, whatever asks for it.
        if (addressOf(url) !== own) {
          const message = `${server.name} is ${server.url}; nothing else is asked with its credential.`;
          throw new Fault("forbidden", "other_address", message);
        }
        try {
          return await request(server, user, url, init);
        } catch (error) {
          if (!(error instanceof Refused || error instanceof OutboundError)) throw error;
          throw new Fault("unavailable", "mcp_unreachable", error.message, { cause: error });
        }
      };
    },
    /** True where the server wants a sign-in or a token, as far as is known. */
    async signsIn(server: McpTarget, user: string): Promise<boolean> {
      if (server.perUser || server.credential !== undefined) return true;
      if ((await challenges.find(placeOf(server, user))) !== undefined) return true;
      return (await vaultOf(server).values.read(nameOf(server, user))) !== undefined;
    },
    async isSignedIn(server: McpTarget, user: string): Promise<boolean> {
      const record = await vaultOf(server).values.read(nameOf(server, user));
      return record !== undefined && !isSpent(record);
    },
    ...signIn,
    async setToken(server: McpTarget, user: string, token: string): Promise<SecretSet> {
      const set = await vaultOf(server).secrets.set(nameOf(server, user), token);
      await challenges.forget(placeOf(server, user));
      return set;
    },
    async setClientSecret(server: McpTarget, secret: string): Promise<SecretSet> {
      const { clientSecretSecret } = server.credential?.oauth ?? {};
      if (clientSecretSecret === undefined)
        throw new Fault("invalid", "no_client_secret", `The file of ${server.name} names no client secret.`);
      return vaultOf(server).secrets.set(`mcp:${clientSecretSecret}`, secret);
    },
    signOut: (server: McpTarget, user: string) => vaultOf(server).secrets.remove(nameOf(server, user)),
    forget: (name: string) => vault.forget(toolOf(name)),
  };
}

/** Hides, beside what the mask knows, the values of this record that it does not know. */
function hiding(mask: Mask, record: SecretRecord | undefined): Pick<Mask, "hide" | "stream"> {
  const values = record === undefined ? [] : valuesOf(record).filter((value) => !looksRandom(value));
  if (values.length === 0) return mask;
  const own = createMatcher(values);
  return {
    hide: (text) => own.hide(mask.hide(text)),
    stream() {
      const [first, second] = [mask.stream(), createHidingStream(() => own.automaton)];
      return {
        push: (delta) => second.push(first.push(delta)),
        end: () => second.push(first.end()) + second.end(),
      };
    },
  };
}
