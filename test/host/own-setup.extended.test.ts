/** Secrets and settings of one user, in the real kernel with real calls. */
import { expect, onTestFinished, test } from "vitest";
import tools from "../../host/plugin.ts";
import users from "../../host/users/plugin.ts";
import accounts from "../../plugins/accounts/plugin.ts";
import store from "../../plugins/store/plugin.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { bootKernel } from "../support/services/kernel.ts";
import { fixture } from "../support/tools/components.ts";
import { installProber } from "../support/tools/tool-host.ts";

const CAPABILITIES = {
  version: "1.0.0",
  wit_version: "0.1.0",
  settings: [{ name: "server", description: "The server to ask.", format: "url" }],
  http: {
    allowlist: [{ host: { setting: "server" }, path_prefix: "/v1/", methods: ["GET"] }],
    credentials: {
      probe: {
        secret_name: "probe_token",
        location: { type: "bearer" },
        host_patterns: [{ setting: "server" }],
      },
    },
  },
  auth: { secret_name: "probe_token", display_name: "Probe" },
};

async function open(capabilities: object = CAPABILITIES) {
  const servers = [await openUpstream(), await openUpstream()] as const;
  for (const server of servers) onTestFinished(() => server.close());
  const [all, anns] = servers.map(({ port }, at) => `http://${at === 0 ? "127.0.0.1" : "localhost"}:${port}`);
  const kernel = await bootKernel(
    [store, accounts, tools, users],
    {},
    { only: ["store", "accounts", "identities", "tools", "toolHost"] },
  );
  const host = await kernel.service("toolHost").open();
  await installProber(host, JSON.stringify(capabilities));
  const tool = await host.catalog.find("prober");
  if (tool === undefined || all === undefined || anns === undefined) throw new Error("it is not there");
  await host.configure(tool, { server: all }, () => true);
  /** The token that the server got, or what came of the call. */
  const call = async (user: string, url: string) => {
    const seen = servers.map(({ requests }) => requests.length);
    const params = JSON.stringify({ url: `${url}/v1/x` });
    const outcome = await kernel.service("tools").call({ id: "call", name: "prober", params }, { user });
    const sent = servers.flatMap(({ requests }, at) => requests.slice(seen[at]));
    return sent[0]?.headers.authorization ?? outcome.status;
  };
  return { kernel, host, tool, call, all, anns, admin: kernel.service("toolAdmin") };
}

test("a user's own secret and settings are used in that user's calls alone, and go with the user", async () => {
  const { kernel, host, tool, call, all, anns, admin } = await open();
  expect(await call("ann", all)).toBe("unauthenticated");
  await admin.setSecret("prober", "probe_token", "token-of-ann", "ann");
  expect(await call("ann", all)).toBe("Bearer token-of-ann");
  expect(await call("bob", all)).toBe("unauthenticated");
  const refusal = (user: string) =>
    kernel
      .service("tools")
      .refusal?.({ id: "call", name: "prober", params: '{"url":"https://a.test"}' }, user);
  expect(await refusal("ann")).toBeUndefined();
  expect(await refusal("bob")).toMatchObject({ status: "unauthenticated" });

  await admin.setSecret("prober", "probe_token", "token-for-all");
  expect(await call("ann", all)).toBe("Bearer token-of-ann");
  expect(await call("bob", all)).toBe("Bearer token-for-all");

  // A server of their own: what all share never goes there, and their own only once they say so.
  await host.ownSettings.configure(tool, "bob", { server: anns }, () => true);
  expect(await call("bob", anns)).toBe("unauthenticated");
  await host.ownSettings.configure(tool, "ann", { server: anns }, () => true);
  expect(await call("ann", anns)).toBe("unauthenticated");
  expect((await admin.setup("prober", "ann")).secrets[0]?.shares).toContain("Let it use `probe_token`?");
  await admin.shareSecret("prober", "probe_token", "ann");
  expect(await call("ann", anns)).toBe("Bearer token-of-ann");
  expect(await admin.setup("prober", "ann")).toMatchObject({
    secrets: [{ isSet: true, isOwn: true }],
    settings: [{ value: anns, isOwn: true }],
  });
  expect((await admin.setup("prober")).settings).toMatchObject([{ value: all }]);
  expect(await admin.setup("prober", "eve")).toMatchObject({
    secrets: [{ isSet: true, isOwn: false }],
    settings: [{ value: undefined, isDefault: false, isOwn: false }],
  });

  const { removeUser, addUser } = kernel.service("accounts");
  await addUser("ann", "user");
  await removeUser("ann", { withData: true });
  expect(await call("ann", all)).toBe("Bearer token-for-all");
  expect((await admin.setup("prober", "ann")).settings).toMatchObject([{ value: undefined, isOwn: false }]);
  expect((await admin.setup("prober", "bob")).settings).toMatchObject([{ value: anns, isOwn: true }]);
});

test("a user's secrets and settings go with the tool, and one of the same name has none", async () => {
  const { kernel, host, tool, anns, admin } = await open();
  const settings = async () => (await admin.setup("prober", "ann")).settings;
  const kept = async () => {
    const { keyed } = kernel.service("store");
    const all = ["secrets", "tool-settings"].map((name) => Array.fromAsync(keyed(name).iterator()));
    return (await Promise.all(all)).flat().map(([key]) => key);
  };
  const give = async () => {
    await host.ownSettings.configure(tool, "ann", { server: anns }, () => true);
    const { values } = host.vault.of({ tool: "prober", digest: "", user: "ann", hostsOf: () => [] });
    await values.write("probe_token", { value: "token-of-ann" });
  };
  await admin.setSecret("prober", "probe_token", "token-for-all");
  await give();
  expect(await settings()).toMatchObject([{ value: anns, isOwn: true }]);
  expect(await kept()).toHaveLength(3);
  await admin.remove("prober");
  expect(await kept()).toEqual(["prober/probe_token"]);
  // Set by a request that was under way at the removal.
  await give();
  await host.place(
    "prober",
    await host.examine(await fixture("prober.js"), JSON.stringify(CAPABILITIES)),
    false,
  );
  expect(await settings()).toMatchObject([{ isOwn: false }]);
  expect(await kept()).toEqual(["prober/probe_token"]);
});

test("a tool is offered to those who have what it needs, and where a call would ask for a credential", async () => {
  const required = CAPABILITIES.settings.map((setting) => ({ ...setting, required: true }));
  const setup = { required_secrets: ["client_id"] };
  const { kernel, host, tool, all, admin } = await open({ ...CAPABILITIES, settings: required, setup });
  const needs = async (user?: string) => (await kernel.service("tools").list(user))[0]?.needs;
  await admin.setSetting?.("prober", "server", "", true);
  const nothing = { names: ["server", "probe_token", "client_id"], isOffered: false };
  expect(await needs("ann")).toMatchObject(nothing);
  expect((await needs())?.why).toBe(
    "prober needs the setting `server`, the secret `probe_token` and the secret `client_id`. Give what is missing on the page, or with: postern tool setup prober, then postern tool auth prober",
  );
  await host.ownSettings.configure(tool, "ann", { server: all }, () => true);
  expect(await needs("ann")).toMatchObject({ names: ["probe_token", "client_id"], isOffered: true });
  expect(await needs("bob")).toMatchObject(nothing);
  await admin.setSecret("prober", "probe_token", "token-of-ann", "ann");
  expect(await needs("ann")).toMatchObject({ names: ["client_id"], isOffered: false });
  await admin.setSecret("prober", "client_id", "client-of-ann", "ann");
  expect(await needs("ann")).toBeUndefined();
  expect(await needs("bob")).toMatchObject(nothing);
});

test("what an identity had for itself is deleted when it is paired to an account", async () => {
  const { kernel, host, tool, anns, admin } = await open();
  for (const user of ["webhook/ann", "webhook/bob"]) {
    await admin.setSecret("prober", "probe_token", `token of ${user}`, user);
    await host.ownSettings.configure(tool, user, { server: anns }, () => true);
    await admin.shareSecret("prober", "probe_token", user);
  }
  const ownOf = async (user: string) => {
    const { secrets, settings } = await admin.setup("prober", user);
    return [secrets[0]?.isOwn, settings?.[0]?.isOwn];
  };
  await kernel.service("accounts").addUser("ann", "user");
  await kernel.service("identities").pair("webhook/ann", "ann");
  expect(await ownOf("webhook/ann")).toEqual([false, false]);
  expect(await ownOf("ann")).toEqual([false, false]);
  expect(await ownOf("webhook/bob")).toEqual([true, true]);
});

test("a user may not allow a private address; the operator may, for that user", async () => {
  const { host, tool, anns, admin, call } = await open();
  const set = (value: string) => admin.setSetting?.("prober", "server", value, true, "ann");
  await expect(set(anns)).rejects.toMatchObject({ kind: "forbidden", code: "private_host" });
  await expect(set("no address")).rejects.toMatchObject({ code: "bad_setting" });
  expect((await admin.setup("prober", "ann")).settings).toMatchObject([{ value: undefined, isOwn: false }]);
  await host.ownSettings.configure(tool, "ann", { server: anns }, () => true);
  await admin.setSecret("prober", "probe_token", "token-of-ann", "ann");
  expect(await call("ann", anns)).toBe("Bearer token-of-ann");
  expect(await set("")).toEqual({ saved: true, asks: [] });
  expect((await admin.setup("prober", "ann")).settings).toMatchObject([{ value: undefined, isOwn: false }]);
  expect(await admin.removeSecret?.("prober", "probe_token", "ann")).toBe(true);
  expect(await admin.removeSecret?.("prober", "probe_token", "ann")).toBe(false);
});
