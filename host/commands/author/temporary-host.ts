/** A tool host on a home and a store of its own, beside the operator's: no secrets, one worker. */
import { createLog } from "../../../kernel/kit/log.ts";
import type { PrivateHosts } from "../../../kernel/kit/outbound.ts";
import { createMask } from "../../../kernel/kit/secrets.ts";
import type { Store } from "../../../plugins/store/services.ts";
import { openServiceHost, type ServiceHost } from "../../service-host.ts";

export async function openTemporaryHost(
  home: string,
  store: Store,
  privateHosts: PrivateHosts,
): Promise<ServiceHost> {
  const mask = createMask();
  const log = createLog("error", mask, { pretty: false, write: (line) => void process.stderr.write(line) });
  const config = { privateHosts, shipped: false, workers: 1, variable: () => undefined };
  return await openServiceHost({ config, home, store, mask, log });
}
