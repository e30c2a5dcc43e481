/** A tool host on a home of its own, beside the operator's: no secrets, one worker. */
import { join } from "node:path";
import { createLog, createMask, openStore, type PrivateHosts, prepareHome } from "../../../kernel/kit.ts";
import { openToolHost, type ToolHost } from "../../tool-host.ts";

export async function openTemporaryHost(home: string, privateHosts: PrivateHosts): Promise<ToolHost> {
  prepareHome(home);
  const store = openStore(join(home, "store.sqlite"));
  const mask = createMask();
  const log = createLog("error", mask, { pretty: false, write: (line) => void process.stderr.write(line) });
  const config = {
    privateHosts,
    shipped: false,
    secretsKey: undefined,
    workers: 1,
    variable: () => undefined,
  };
  const host = await openToolHost({ config, home, store, mask, log });
  return {
    ...host,
    async close() {
      await host.close();
      await store.close();
    },
  };
}
