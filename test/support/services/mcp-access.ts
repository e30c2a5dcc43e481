/** Real access to MCP servers on a real store in a folder of its own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetwork } from "../../../host/broker/network.ts";
import { createMcpAccess, type McpAccess } from "../../../host/mcp/sign-in/access.ts";
import type { McpTarget } from "../../../host/mcp/sign-in/target.ts";
import { openVault, type Vault } from "../../../host/secrets/secrets.ts";
import type { Mask } from "../../../kernel/mask/mask.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { Lookup } from "../../../kernel/net/address.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import type { GuardedServer } from "../servers/guarded-server.ts";

export interface OpenedAccess {
  readonly access: McpAccess;
  readonly vault: Vault;
  readonly store: OpenStore;
  readonly mask: Mask;
  /** From the first refusal to a token, as a person at a browser does it. */
  signIn(target: McpTarget, user: string, server: GuardedServer): Promise<void>;
  close(): Promise<void>;
}

export const REDIRECT_URI = "http://127.0.0.1:1/oauth/callback";

export async function openMcpAccess(options: {
  readonly privateHosts: Iterable<string>;
  readonly lookup?: Lookup;
  readonly timeoutMs?: number;
  readonly documentUrl?: () => string | undefined;
  /** Another node of the same fleet. */
  readonly beside?: OpenedAccess;
}): Promise<OpenedAccess> {
  const { beside, privateHosts: hosts, lookup, ...rest } = options;
  const home = await mkdtemp(join(tmpdir(), "postern-mcp-access-"));
  const store = beside?.store ?? openStore(join(home, "store.sqlite"));
  const mask = createMask();
  const key = new Uint8Array(32).fill(7);
  const vault = await openVault({ keyed: store.keyed("secrets"), key, mask });
  const privateHosts = hosts instanceof Set ? (hosts as ReadonlySet<string>) : new Set(hosts);
  const network = createNetwork({ privateHosts, lookup });
  const access = createMcpAccess({ vault, store, key, mask, network, privateHosts, ...rest });
  return {
    access,
    vault,
    store,
    mask,
    async signIn(target, user, server) {
      const { url } = await access.beginSignIn(target, user, REDIRECT_URI);
      await access.finishSignIn(await server.signIn(url), async () => target);
    },
    async close() {
      await network.close();
      if (beside === undefined) await store.close();
      await rm(home, { recursive: true });
    },
  };
}
