/** `postern tool update` and `tool rollback`, with a registry that moves on, goes back and lies. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { startNpmPackages } from "../../support/servers/npm-packages.ts";
import { copyCode, fixture } from "../../support/tools/components.ts";
import { allowing, NOTHING } from "../../support/tools/tool-host.ts";

const RECORDING = { params: { text: "hello" }, exchanges: [] };

async function place() {
  const npm = await startNpmPackages();
  const cwd = temporaryFolder();
  const home = join(cwd, "home");
  mkdirSync(home, { mode: 0o700 });
  const component = await fixture("echo.js");
  await copyCode(component, home);
  const env = {
    POSTERN_HOME: home,
    TOOLS_PRIVATE_HOSTS: npm.host,
    NPM_CONFIG_REGISTRY: npm.url,
    TOOLS_INDEX: "tools.json",
    TOOLS_SHIPPED: "false",
  };
  const publish = (version: string, capabilities: string, recording: object = RECORDING) =>
    npm.publish("@acme/echo", version, [
      { path: "package/package.json", data: JSON.stringify({ postern: {} }) },
      { path: "package/echo.wasm", data: component },
      {
        path: "package/capabilities.json",
        data: JSON.stringify({ ...JSON.parse(capabilities), version }),
      },
      { path: "package/recordings/hello.json", data: JSON.stringify(recording) },
    ]);
  const tool = (...args: string[]) => postern(["tool", ...args], { env, cwd, input: "tok-0123456789\n" });
  const version = async () => JSON.parse((await tool("info", "echo", "--json")).stdout).version;
  const trust = (...args: string[]) => postern(["trust", ...args], { env, cwd });
  return { npm, cwd, home, tool, trust, publish, version };
}

test("a newer version is shown, asked about, tried and installed; rollback swaps it with the old one", async () => {
  const { npm, tool, publish, version } = await place();
  publish("1.0.0", NOTHING);
  expect(await tool("install", "npm:@acme/echo")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--allow-unsigned"),
  });
  expect((await tool("install", "npm:@acme/echo", "--allow-unsigned")).code).toBe(0);
  expect((await tool("update", "echo")).stdout).toContain("up to date");
  expect((await tool("rollback", "echo")).stderr).toContain("no version of echo before 1.0.0 is kept");

  publish("1.1.0", allowing("api.example.com"));
  const checked = await tool("update", "--check", "--json");
  expect(JSON.parse(checked.stdout)).toEqual({
    tools: [
      {
        name: "echo",
        version: "1.0.0",
        from: "npm:@acme/echo@latest",
        status: "available",
        available: expect.objectContaining({
          version: "1.1.0",
          added: ["may GET https://api.example.com/v1/*"],
          removed: [],
          warnings: [],
          signature: expect.stringContaining("not signed"),
        }),
      },
    ],
  });
  expect(await version()).toBe("1.0.0");
  expect((await tool("update", "echo", "--yes")).stderr).toContain("--allow-unsigned");
  expect((await tool("update", "echo", "--allow-unsigned")).stderr).toContain("pass --yes to agree");
  expect(await version()).toBe("1.0.0");

  const updated = await tool("update", "echo", "--yes", "--allow-unsigned");
  expect(updated.stderr).toContain("It may do more:\n  - may GET https://api.example.com/v1/*");
  expect(updated.stdout).toContain("it answered its recordings (1); to go back: postern tool rollback echo");
  expect(await version()).toBe("1.1.0");

  expect((await tool("rollback", "echo")).stdout).toContain("echo is back at version 1.0.0");
  expect(await version()).toBe("1.0.0");
  // The registry did not move: what was rolled back is newer, not older.
  const again = JSON.parse((await tool("update", "--check", "--json")).stdout);
  expect(again.tools[0]).toMatchObject({ status: "available", available: { warnings: [] } });
  expect((await tool("rollback", "echo")).stderr).toContain("pass --yes to agree");
  expect((await tool("rollback", "echo", "--yes")).code).toBe(0);
  expect(await version()).toBe("1.1.0");

  // Now it does.
  npm.document("@acme/echo")["dist-tags"] = { latest: "1.0.0" };
  const back = await tool("update", "echo", "--yes", "--allow-unsigned");
  expect(back.code).toBe(1);
  expect(back.stderr).toContain(
    "WARNING: npm:@acme/echo@latest went back to content that it had before (version 1.0.0; the last one was 1.1.0).",
  );
  expect(back.stderr).toContain("--yes does not answer this; --allow-older does.");
  expect(await version()).toBe("1.1.0");
});

test("a version that does not answer its recordings is not installed, nor one whose content was exchanged", async () => {
  const { home, tool, publish, version } = await place();
  publish("1.0.0", NOTHING);
  writeFileSync(
    join(home, "tools.json"),
    JSON.stringify({
      tools: [{ name: "echo", about: "Echoes.", from: "npm:@acme/echo", digest: `sha256:${"0".repeat(64)}` }],
    }),
  );
  expect((await tool("install", "echo", "--allow-unsigned")).stderr).toContain(
    "is not known to be the echo that the index tools.json lists",
  );
  expect((await tool("install", "npm:@acme/echo", "--allow-unsigned")).code).toBe(0);
  publish("1.1.0", NOTHING, { ...RECORDING, params: { text: 1 } });
  const failed = await tool("update", "echo", "--yes", "--allow-unsigned");
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain("echo 1.1.0 does not answer what its author recorded (hello.json: ");
  expect(failed.stderr).toContain("Version 1.0.0 stays installed.");
  publish("1.0.0", allowing("api.example.com"));
  const swapped = await tool("update", "--yes", "--allow-unsigned", "--json");
  expect(swapped.code).toBe(1);
  expect(JSON.parse(swapped.stdout).tools[0]).toMatchObject({
    status: "failed",
    detail: expect.stringContaining("npm:@acme/echo@latest has other content under the same version, 1.0.0"),
  });
  expect(await version()).toBe("1.0.0");
});

test("a rollback asks before the older version gets a secret; capabilities of one's own are not replaced", async () => {
  const { cwd, tool, trust, publish, version } = await place();
  const signing = JSON.stringify({
    ...JSON.parse(allowing("api.example.com")),
    auth: { secret_name: "probe_token", display_name: "Probe" },
    secrets: { allowed_names: ["probe_token"] },
  });
  publish("1.0.0", signing);
  expect((await tool("install", "npm:@acme/echo", "--allow-unsigned")).code).toBe(0);
  writeFileSync(join(cwd, "own.json"), NOTHING);
  const own = ["install", "npm:@acme/echo", "--name", "own", "--capabilities", "own.json"];
  expect((await tool(...own, "--allow-unsigned")).code).toBe(0);
  publish("1.1.0", signing);
  const updated = await tool("update", "--yes", "--allow-unsigned", "--json");
  expect(updated.code).toBe(0);
  expect(JSON.parse(updated.stdout).tools).toEqual([
    expect.objectContaining({ name: "echo", status: "updated", version: "1.1.0" }),
    expect.objectContaining({
      name: "own",
      status: "own_capabilities",
      detail: expect.stringContaining(
        "install npm:@acme/echo@latest --name own --capabilities <file> --force",
      ),
    }),
  ]);

  expect((await tool("auth", "echo")).code).toBe(0);
  const asked = await tool("rollback", "echo");
  expect(asked.stderr).toContain("keeps using `probe_token`");
  expect(asked.stderr).toContain("pass --yes to agree");
  expect(await version()).toBe("1.1.0");
  expect((await tool("rollback", "echo", "--yes")).code).toBe(0);
  expect(await version()).toBe("1.0.0");
  const signer = ["--identity", "release@acme.example", "--issuer", "https://accounts.example"];
  expect((await trust("add", "npm:@acme/*", ...signer)).code).toBe(0);
  expect((await tool("rollback", "echo", "--yes")).stderr).toContain(
    "echo 1.1.0 had no verified signature when it was installed, and the trust rule for npm:@acme/* needs one by release@acme.example",
  );
  expect(await version()).toBe("1.0.0");
});
