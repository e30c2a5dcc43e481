import { mkdir, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf, parseCapabilities } from "../../../host/catalog/catalog.ts";
import { NO_CHOICES } from "../../../host/catalog/settings.ts";
import { openFolderCatalog } from "../../../host/catalog/storage/folders.ts";
import { temporaryFolder } from "../../support/home.ts";

const COMPONENT = new TextEncoder().encode("a component");

/** What another process does when it installs. */
async function put(
  home: string,
  name: string,
  capabilities: object = { version: "1.0.0", wit_version: "0.1.0" },
) {
  const draft = join(home, "tools", `.new-${name}`);
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, "component.wasm"), COMPONENT);
  await writeFile(join(draft, "capabilities.json"), JSON.stringify(capabilities));
  const record = {
    sha256: digestOf(COMPONENT),
    installed_at: "2026-11-15T00:00:00.000Z",
    version: "1.0.0",
    description: `What ${name} does`,
    schema: { type: "object" },
  };
  await writeFile(join(draft, "tool.json"), JSON.stringify(record));
  await rename(draft, join(home, "tools", name));
}

test("a home without tools has an empty catalog", async () => {
  const catalog = openFolderCatalog(temporaryFolder());
  expect(await catalog.list()).toEqual([]);
  expect(await catalog.find("weather")).toBeUndefined();
  expect(await catalog.remove("weather")).toBe(false);
});

test("what another process installs or removes is there at the next look, without a restart", async () => {
  const home = temporaryFolder();
  const catalog = openFolderCatalog(home);
  const names = async () => (await catalog.list()).map(({ name }) => name);
  for (let round = 0; round < 5; round++) {
    expect(await names()).toEqual([]);
    await put(home, "notes");
    await put(home, "clock");
    expect(await names()).toEqual(["clock", "notes"]);
    expect(await catalog.find("notes")).toMatchObject({
      description: "What notes does",
      digest: digestOf(COMPONENT),
    });
    await rm(join(home, "tools", "clock"), { recursive: true });
    expect(await names()).toEqual(["notes"]);
    expect(await catalog.remove("notes")).toBe(true);
  }
  expect(await readdir(join(home, "tools"))).toEqual([]);
});

test("a look at a catalog that did not change reads no tool again", async () => {
  const home = temporaryFolder();
  await put(home, "notes");
  // A change within the same step of the clock as the look would not show in the folder's time.
  const earlier = Date.now() / 1000 - 60;
  await utimes(join(home, "tools"), earlier, earlier);
  const catalog = openFolderCatalog(home);
  const before = await catalog.find("notes");
  expect(await catalog.find("notes")).toBe(before);
});

test("the digest is checked at every load: a component changed on disk is refused by name", async () => {
  const home = temporaryFolder();
  await put(home, "notes");
  const catalog = openFolderCatalog(home);
  const tool = await catalog.find("notes");
  if (tool === undefined) throw new Error("not installed");
  expect(Buffer.from(await catalog.read(tool)).toString()).toBe("a component");
  await writeFile(join(home, "tools", "notes", "component.wasm"), "another");
  await expect(catalog.read(tool)).rejects.toThrow(
    /^notes was changed on disk after it was installed: .* Install it again\.$/,
  );
});

test("a folder that holds no sound tool does not hide the others, and is named with the reason", async () => {
  const home = temporaryFolder();
  await put(home, "notes");
  await put(home, "odd", { version: "1.0.0", wit_version: "0.1.0", shell: true });
  await mkdir(join(home, "tools", "void"));
  const catalog = openFolderCatalog(home);
  expect((await catalog.list()).map(({ name }) => name)).toEqual(["notes"]);
  expect(await catalog.broken()).toEqual([
    { name: "odd", reason: expect.stringContaining("shell") },
    { name: "void", reason: expect.stringContaining("tool.json") },
  ]);
});

test("what a tool replaced is kept whole until the next replacement, and goes with the tool", async () => {
  const home = temporaryFolder();
  const catalog = openFolderCatalog(home);
  const install = async (version: string) => {
    const capabilitiesText = JSON.stringify({ version, wit_version: "0.1.0" });
    const candidate = {
      component: COMPONENT,
      capabilitiesText,
      capabilities: parseCapabilities(capabilitiesText),
      digest: digestOf(COMPONENT),
      description: "Keeps notes",
      schema: { type: "object" },
      grants: [],
      choices: NO_CHOICES,
    };
    await catalog.put("notes", candidate, await catalog.find("notes"));
  };
  const previous = async () => (await catalog.previous("notes"))?.tool.capabilities.version;
  await install("1.0.0");
  expect(await previous()).toBeUndefined();
  await install("2.0.0");
  expect(await previous()).toBe("1.0.0");
  // Nothing changes with the same again.
  await install("2.0.0");
  expect(await previous()).toBe("1.0.0");
  await install("3.0.0");
  expect(await catalog.previous("notes")).toMatchObject({
    component: Buffer.from(COMPONENT),
    capabilitiesText: '{"version":"2.0.0","wit_version":"0.1.0"}',
  });
  expect((await readdir(join(home, "tools"))).sort()).toEqual([".previous-notes", "notes"]);
  await writeFile(join(home, "tools", ".previous-notes", "component.wasm"), "another");
  await expect(catalog.previous("notes")).rejects.toThrow("notes was changed on disk");
  expect(await catalog.remove("notes")).toBe(true);
  expect(await readdir(join(home, "tools"))).toEqual([]);
});
