import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnoseTools } from "../../host/diagnosis.ts";
import { Settings } from "../../kernel/settings/env.ts";
import { readStoreSettings } from "../../plugins/store/config/settings.ts";
import { examineStore } from "../../plugins/store/maintenance/diagnosis.ts";
import { temporaryFolder } from "../support/home.ts";
import { diagnosing } from "../support/services/diagnosis.ts";
import { allowing, installProber, switchOff, toolHost } from "../support/tools/tool-host.ts";

test("an untouched home is sound, and looking at it makes no key", async () => {
  const home = temporaryFolder();
  expect(await diagnosing(home, {}, diagnoseTools)).toEqual([]);
  const store = () => diagnosing(home, readStoreSettings(new Settings({}).for("store")), examineStore);
  const expected = { name: "secrets key", ok: true, detail: "none yet; the first start creates one" };
  expect(await store()).toContainEqual(expected);
  expect(await store()).toContainEqual(expected);
});

test("a sound tool, a changed one, a broken one and an open key are each named with the way out", async () => {
  const host = await toolHost();
  await installProber(host, allowing("api.example.com"));
  expect((await diagnosing(host.home, {}, diagnoseTools))[0]).toEqual({
    name: "tool prober",
    ok: true,
    detail: "version 1.0.0, file unchanged",
  });
  await writeFile(join(host.home, "tools", "prober", "component.wasm"), "changed");
  await mkdir(join(host.home, "tools", "void"));
  const findings = await diagnosing(host.home, {}, diagnoseTools);
  expect(findings.map(({ name, ok }) => `${name} ${ok}`)).toEqual(["tool prober false", "tool void false"]);
  expect(findings[0]?.detail).toContain("--force");
  await chmod(join(host.home, "secrets.key"), 0o644);
  const config = readStoreSettings(new Settings({}).for("store"));
  expect(await diagnosing(host.home, config, examineStore)).toContainEqual({
    name: "secrets key",
    ok: false,
    detail: expect.stringContaining("chmod 600"),
  });
});

test("a tool that is switched off is named with the way out, beside a service that runs", async () => {
  const host = await toolHost();
  const tool = await installProber(host, allowing("api.example.com"));
  const diagnosed = async () => (await diagnosing(host.home, {}, diagnoseTools))[0];
  await switchOff(host, tool);
  expect(await diagnosed()).toEqual({
    name: "tool prober",
    ok: false,
    detail: expect.stringMatching(
      /^switched off since \S+Z\. It took .*SIGKILL\. Switch it on again: postern tool enable prober$/,
    ),
  });
  await host.switches.enable(tool);
  expect(await diagnosed()).toMatchObject({ ok: true });
});

test("a store that cannot be read keeps nobody from looking at the tools", async () => {
  const host = await toolHost();
  await installProber(host, allowing("api.example.com"));
  await host.close();
  for (const text of ["", "not a database, and long enough to be taken for the header of one"]) {
    await writeFile(join(host.home, "store.sqlite"), text);
    expect((await diagnosing(host.home, {}, diagnoseTools))[0]).toMatchObject({
      name: "tool prober",
      ok: true,
    });
  }
});
