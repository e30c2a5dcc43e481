/** The sign-ins of MCP servers: what they send goes only to addresses that were checked, and what they bring is sealed. */

import type { FetchLike } from "@modelcontextprotocol/client";
import {
  clientDocumentUrl,
  createMatcher,
  Fault,
  type Mask,
  reason,
  type SealingKey,
  type SignInBrowser,
  type Store,
  visibleLine,
} from "../../../kernel/kit.ts";
import { readWhole } from "../../broker/checked-fetch.ts";
import { Refused } from "../../broker/policy.ts";
import { looksRandom } from "../../secrets/entry.ts";
import type { Vault } from "../../secrets/secrets.ts";
import { createSignIns } from "../../secrets/sign-ins.ts";
import { type Begun, beginAuthorization, finishAuthorization } from "./authorization.ts";
import { type Challenge, type Challenges, readChallenge } from "./challenges.ts";
import { createClients, type OAuthClient } from "./clients.ts";
import { holderOf, type McpTarget, nameOf, placeOf } from "./target.ts";

export interface McpSignIn {
  beginSignIn(server: McpTarget, user: string, redirectUri: string): Promise<{ readonly url: string }>;
  /** Undefined where the address answers no sign-in of a server's. `find`: the server as it is now. */
  finishSignIn(
    redirected: URL,
    find: (name: string) => Promise<McpTarget | undefined>,
    browser?: SignInBrowser,
  ): Promise<{ readonly server: string; readonly user: string } | undefined>;
}

export interface McpSignInParts {
  readonly vault: Vault;
  readonly store: Pick<Store, "keyed">;
  readonly key: SealingKey;
  readonly mask: Mask;
  readonly challenges: Challenges;
  /** For everything that is neither the server nor asked with its credential. */
  readonly fetch: FetchLike;
  /** The address of a document about this client, for a sign-in that comes back to this address. */
  readonly documentUrl?: (redirectUri: string) => string | undefined;
}

/** What is kept until the browser comes back. */
interface Kept {
  readonly server: string;
  readonly url: string;
  readonly user: string;
  readonly begun: Begun;
}

const LONGEST_WHY = 500;

export function createMcpSignIn(parts: McpSignInParts): McpSignIn {
  const { vault, store, key, mask, challenges, fetch, documentUrl = clientDocumentUrl } = parts;
  const signIns = createSignIns<Kept>(store.keyed("mcp-sign-ins"), key);
  const clients = createClients(store.keyed("mcp-clients"), key);
  const whole = readWhole(fetch);
  const valuesOf = (server: McpTarget) => vault.of(holderOf(server)).values;

  /** What the server says to somebody who brings nothing. */
  async function probe(server: McpTarget): Promise<Challenge> {
    const response = await fetch(server.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    await response.body?.cancel();
    return response.status === 401 ? readChallenge(response) : {};
  }

  async function registeredClient(server: McpTarget): Promise<OAuthClient | undefined> {
    const { clientId, clientSecretSecret } = server.credential?.oauth ?? {};
    if (clientId === undefined) return undefined;
    if (clientSecretSecret === undefined) return { id: clientId };
    const secret = (await valuesOf(server).read(`mcp:${clientSecretSecret}`))?.value;
    if (secret !== undefined) return { id: clientId, secret };
    throw new Fault(
      "invalid",
      "oauth_client_missing",
      `The client secret \`${clientSecretSecret}\` is not set: run "postern mcp auth ${server.name}".`,
    );
  }

  /** Sentences for what a stranger's sign-in did wrong, with nothing in them of what was sent. */
  function explain(server: string, error: unknown, sent: readonly string[] = []): Fault {
    if (error instanceof Fault) return error;
    const why = createMatcher(sent).hide(mask.hide(reason(error)));
    const kind = error instanceof Refused ? "unavailable" : "unauthenticated";
    return new Fault(
      kind,
      "oauth_failed",
      `Sign-in for ${server} failed: ${visibleLine(why).slice(0, LONGEST_WHY)}. Run "postern mcp auth ${server}".`,
      { cause: error },
    );
  }

  return {
    async beginSignIn(server, user, redirectUri) {
      const held = (await valuesOf(server).read(nameOf(server, user)))?.oauth;
      try {
        const { url, begun } = await beginAuthorization({
          server,
          challenge: (await challenges.find(placeOf(server, user))) ?? (await probe(server)),
          scopes: server.credential?.oauth?.scopes ?? [],
          held,
          redirectUri,
          clients,
          registered: await registeredClient(server),
          documentUrl: documentUrl(redirectUri),
          fetch: whole,
        });
        const { secret } = begun.client;
        if (secret !== undefined && looksRandom(secret)) mask.add(secret);
        await signIns.keep(begun.state, { server: server.name, url: server.url, user, begun });
        return { url: url.href };
      } catch (error) {
        throw explain(server.name, error);
      }
    },
    async finishSignIn(redirected, find, browser) {
      const kept = await signIns.take(redirected);
      if (kept === undefined) return undefined;
      const { server: name, user, begun } = kept;
      const server = await find(name);
      if (server === undefined || server.url !== kept.url) {
        throw new Fault(
          "invalid",
          "no_such_sign_in",
          `${name} was removed or changed since this sign-in began. Start it again.`,
        );
      }
      // Somebody who was sent another's link must not sign in for them.
      if (server.perUser && browser?.began === false) {
        throw new Fault(
          "forbidden",
          "other_browser",
          `This sign-in for ${name} was not started in this browser. Start your own on the page Tools.`,
        );
      }
      const sent = [begun.verifier, redirected.searchParams.get("code") ?? "", begun.client.secret ?? ""];
      try {
        const record = await finishAuthorization(begun, redirected, whole);
        await valuesOf(server).write(nameOf(server, user), record);
        await challenges.forget(placeOf(server, user));
        return { server: name, user };
      } catch (error) {
        if ((error as { code?: unknown }).code === "invalid_client")
          await clients.forget({
            server: name,
            issuer: begun.metadata.issuer,
            redirectUri: begun.redirectUri,
          });
        throw explain(
          name,
          error,
          sent.filter((value) => value !== ""),
        );
      }
    },
  };
}
