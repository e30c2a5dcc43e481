/** A tool host of the bench's own, and tools put into it without being examined each time. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { openServiceHost, type ServiceHost } from "../../../host/service-host.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { copyCode } from "../../support/tools/components.ts";
import { openHomeStore } from "../../support/tools/home-store.ts";

export async function openHost(home: string, privateHosts: readonly string[] = []): Promise<ServiceHost> {
  mkdirSync(home, { recursive: true });
  const store = openHomeStore(home);
  const mask = createMask();
  const host = await openServiceHost({
    config: {
      privateHosts: new Set(privateHosts),
      shipped: false,
      workers: undefined,
      variable: () => undefined,
    },
    home,
    store,
    mask,
    log: createLog("silent", mask, { pretty: false, write: () => {} }),
  });
  const close = async () => {
    await host.close();
    await store.close();
  };
  return { ...host, close };
}

/** Installs a component under each of the names; it is compiled and examined once. */
export async function installAs(
  host: ServiceHost,
  names: readonly string[],
  component: Uint8Array,
  capabilities: object = {},
): Promise<void> {
  await copyCode(component, dirname(host.code.folder));
  const text = JSON.stringify({ version: "1.0.0", wit_version: "0.1.0", ...capabilities });
  const candidate = await host.examine(component, text);
  for (const name of names) await host.place(name, candidate, true);
}
