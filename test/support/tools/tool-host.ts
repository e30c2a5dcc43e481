/** A tool host of the test's own, and a tool that probes it. */
import { hash } from "node:crypto";
import { dirname } from "node:path";
import type { Candidate, InstalledTool } from "../../../host/catalog/catalog.ts";
import { examine } from "../../../host/catalog/install.ts";
import {
  openServiceHost,
  type ServiceHost,
  type ServiceHostConfig,
  type ServiceHostPorts,
} from "../../../host/service-host.ts";
import type { LogLevel } from "../../../kernel/log/log.ts";
import { createLog } from "../../../kernel/log/log.ts";
import type { Mask } from "../../../kernel/mask/mask.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { temporaryHome } from "../home.ts";
import { afterThisTest, type Later } from "../undo.ts";
import { copyCode, fixture, fixtureWith } from "./components.ts";
import { openHomeStore } from "./home-store.ts";

export interface ToolHostConfig extends Partial<ServiceHostConfig> {
  readonly later?: Later;
  readonly workspace?: ServiceHostPorts["workspace"];
}

export async function toolHost(
  { later = afterThisTest, workspace, ...config }: ToolHostConfig = {},
  home = temporaryHome(later),
  store: OpenStore = openHomeStore(home),
  level: LogLevel = "warn",
): Promise<ServiceHost & { readonly home: string; readonly logged: readonly string[]; readonly mask: Mask }> {
  const mask = createMask();
  const logged: string[] = [];
  const log = createLog(level, mask, { pretty: false, write: (line) => void logged.push(line) });
  const host = await openServiceHost({
    config: {
      privateHosts: new Set(),
      shipped: true,
      workers: 1,
      variable: () => undefined,
      ...config,
    },
    home,
    store,
    workspace,
    mask,
    log,
  });
  later(async () => {
    await host.close();
    await store.close();
  });
  return { ...host, home, logged, mask };
}

/** Capabilities that allow GET below /v1/ at one host. */
export function allowing(host: string, more: object = {}): string {
  return JSON.stringify({
    version: "1.0.0",
    wit_version: "0.1.0",
    http: { allowlist: [{ host, path_prefix: "/v1/", methods: ["GET"] }], ...more },
  });
}

/** What a tool says whose bearer token goes to a server on this machine; `auth` tells a person how to get it. */
export const BEARER = {
  credentials: {
    probe: { secret_name: "probe_token", location: { type: "bearer" }, host_patterns: ["127.0.0.1"] },
  },
  auth: { secret_name: "probe_token", display_name: "Probe", instructions: "Ask Ada." },
} as const;

export const installProber = async (host: ServiceHost, capabilities: string) =>
  install(host, "prober", await fixture("prober.js"), capabilities);

/** A component that takes its process down: 0 in execute, 1 in description, 2 in schema. */
export const bombIn = (where: 0 | 1 | 2) =>
  fixtureWith(
    "resource-bomb.wat",
    "(global $bomb i32 (i32.const 0))",
    `(global $bomb i32 (i32.const ${where}))`,
  );

/** For a tool that may do nothing. */
export const NOTHING = JSON.stringify({ version: "1.0.0", wit_version: "0.1.0" });

/** As if it had crashed three times, where crashing is not what is tested. */
export async function switchOff({ switches }: ServiceHost, tool: InstalledTool): Promise<void> {
  for (let death = 0; death < 3; death++) await switches.died(tool, "it was ended by SIGKILL");
}

/** What components said of themselves, which is the same each time. */
const introductions = new Map<string, Pick<Candidate, "description" | "schema">>();

export async function install(host: ServiceHost, name: string, bytes: Uint8Array, capabilities: string) {
  await copyCode(bytes, dirname(host.code.folder));
  const known = introductions.get(hash("sha256", bytes));
  const candidate =
    known === undefined
      ? await host.examine(bytes, capabilities)
      : await examine(
          bytes,
          capabilities,
          async () => ({ description: known.description, schema: JSON.stringify(known.schema) }),
          new Set(),
        );
  introductions.set(candidate.digest, candidate);
  return host.catalog.put(name, candidate, await host.catalog.find(name));
}
