/** The built component in a host of its own, and how a test asks it for a page that it serves itself. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { playBack } from "../../../host/broker/recording.ts";
import { openTemporaryHost } from "../../../host/commands/author/temporary-host.ts";
import { openHomeStore } from "../../support/tools/home-store.ts";
import { builtComponent, capabilitiesOf } from "../../support/tools/shipped.ts";
import { install } from "../../support/tools/tool-host.ts";
import { ADDRESS } from "./pages.ts";

export interface Reply {
  readonly url?: string;
  readonly type: string;
  readonly body: Buffer;
}

export async function openReader() {
  const home = await mkdtemp(join(tmpdir(), "postern-test-"));
  const store = openHomeStore(home);
  const host = await openTemporaryHost(home, store, new Set());
  const capabilities = JSON.parse(capabilitiesOf("read-page"));
  // Bombs end at the limit of memory, however long a busy machine takes.
  capabilities.limits.timeout_secs = 3600;
  await install(host, "read-page", await builtComponent("read-page"), JSON.stringify(capabilities));
  return {
    host,
    async ask({ url = ADDRESS, type, body }: Reply) {
      const headers = [["content-type", type]] as const;
      const reply = { status: 200, headers, body_base64: body.toString("base64") };
      const exchanges = [{ request: { method: "GET", url }, reply }];
      return host.run(
        { id: "call", name: "read-page", params: JSON.stringify({ url }) },
        { user: "operator", tape: playBack({ exchanges }, "page") },
      );
    },
    async close() {
      await host.close();
      await store.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
