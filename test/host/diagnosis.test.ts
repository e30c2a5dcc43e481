import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnoseTools } from "../../host/diagnosis.ts";
import { temporaryFolder } from "../support/home.ts";
import { allowing, installProber, switchOff, toolHost } from "../support/tools/tool-host.ts";

test("an untouched home is sound, and looking at it makes no key", async () => {
  const home = temporaryFolder();
  const expected = [{ name: "secrets key", ok: true, detail: "none yet; the first start creates one" }];
  expect(await diagnoseTools(home, {})).toEqual(expected);
  expect(await diagnoseTools(home, {})).toEqual(expected);
});

test("a sound tool, a changed one, a broken one and an open key are each named with the way out", async () => {
  const host = await toolHost();
  await installProber(host, allowing("api.example.com"));
  expect((await diagnoseTools(host.home, {}))[0]).toEqual({
    name: "tool prober",
    ok: true,
    detail: "version 1.0.0, file unchanged",
  });
  await writeFile(join(host.home, "tools", "prober", "component.wasm"), "changed");
  await mkdir(join(host.home, "tools", "void"));
  await chmod(join(host.home, "secrets.key"), 0o644);
  const findings = await diagnoseTools(host.home, {});
  expect(findings.map(({ name, ok }) => `${name} ${ok}`)).toEqual([
    "tool prober false",
    "tool void false",
    "secrets key false",
  ]);
  expect(findings[0]?.detail).toContain("--force");
  expect(findings[2]?.detail).toContain("chmod 600");
});

test("a tool that is switched off is named with the way out, beside a service that runs", async () => {
  const host = await toolHost();
  const tool = await installProber(host, allowing("api.example.com"));
  const diagnosed = async () => (await diagnoseTools(host.home, {}))[0];
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
    expect((await diagnoseTools(host.home, {}))[0]).toMatchObject({ name: "tool prober", ok: true });
  }
});
