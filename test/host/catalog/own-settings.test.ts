import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { InstalledTool } from "../../../host/catalog/catalog.ts";
import { readCapabilities } from "../../../host/catalog/install.ts";
import { createOwnSettings } from "../../../host/catalog/own-settings.ts";
import { createSettings } from "../../../host/catalog/settings.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";

const CAPABILITIES = JSON.stringify({
  version: "1.0.0",
  wit_version: "0.1.0",
  settings: [
    { name: "server", description: "The server to ask.", format: "url" },
    { name: "language", description: "The language to ask in.", format: "text" },
  ],
  http: {
    allowlist: [{ host: { setting: "server" }, path_prefix: "/v1/", methods: ["GET"] }],
    credentials: {
      probe: {
        secret_name: "token",
        location: { type: "bearer" },
        host_patterns: [{ setting: "server" }],
      },
    },
  },
});

async function open() {
  const home = await mkdtemp(join(tmpdir(), "postern-own-"));
  const store = openStore(join(home, "store.sqlite"));
  onTestFinished(async () => {
    await store.close();
    await rm(home, { recursive: true });
  });
  const { choose } = createSettings({
    catalog: { configure: () => Promise.reject(new Error("it is not configured for all")) },
    privateHosts: new Set(),
    lookup: async () => [{ address: "203.0.113.1", family: 4 }],
  });
  const choices = { settings: { server: "https://api.test/all" }, privateHosts: [] };
  const capabilities = readCapabilities(CAPABILITIES, choices);
  const tool = {
    name: "probe",
    capabilities,
    capabilitiesText: CAPABILITIES,
    choices,
  } as Partial<InstalledTool>;
  return { tool: tool as InstalledTool, own: createOwnSettings({ keyed: store.keyed("own"), choose }) };
}

test("what all users share is not sent to another host or path that one user chose", async () => {
  const { tool, own } = await open();
  const isOwnOnly = async (given: Readonly<Record<string, string>>) => {
    await own.configure(tool, "ann", given, () => true);
    return (await own.apply(tool, "ann")).ownOnly;
  };
  expect(await isOwnOnly({ language: "de" })).toBe(false);
  expect(await isOwnOnly({ server: "https://api.test/all" })).toBe(false);
  expect(await isOwnOnly({ server: "https://api.test/anns" })).toBe(true);
  expect(await isOwnOnly({ server: "https://ann.test/all" })).toBe(true);
  expect(await isOwnOnly({ server: "" })).toBe(false);
});
