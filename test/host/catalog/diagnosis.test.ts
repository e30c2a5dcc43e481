import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnoseTools } from "../../../host/catalog/diagnosis.ts";
import { temporaryFolder } from "../../support/home.ts";
import { allowing, installProber, toolHost } from "../../support/tools/tool-host.ts";

test("an untouched home is sound, and looking at it makes no key", async () => {
  const home = temporaryFolder();
  const expected = [{ name: "secrets key", ok: true, detail: "none yet; the first start creates one" }];
  expect(await diagnoseTools(home, undefined)).toEqual(expected);
  expect(await diagnoseTools(home, undefined)).toEqual(expected);
});

test("a sound tool, a changed one, a broken one and an open key are each named with the way out", async () => {
  const host = await toolHost();
  await installProber(host, allowing("api.example.com"));
  expect((await diagnoseTools(host.home, undefined))[0]).toEqual({
    name: "tool prober",
    ok: true,
    detail: "version 1.0.0, file unchanged",
  });
  await writeFile(join(host.catalog.folder, "prober", "component.wasm"), "changed");
  await mkdir(join(host.catalog.folder, "void"));
  await chmod(join(host.home, "secrets.key"), 0o644);
  const findings = await diagnoseTools(host.home, undefined);
  expect(findings.map(({ name, ok }) => `${name} ${ok}`)).toEqual([
    "tool prober false",
    "tool void false",
    "secrets key false",
  ]);
  expect(findings[0]?.detail).toContain("--force");
  expect(findings[2]?.detail).toContain("chmod 600");
});
