/** The published package imports nothing that only building needs, has allowed licences only, and names the Node that it runs on. */
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { subset } from "semver";
import { expect, test } from "vitest";
import { isAllowed, isInstalled, type Locked, licenseOf } from "../.package/licenses.ts";
import { PACKAGES } from "../host/author/build/toolchain.ts";
import { ROOT } from "../kernel/package.ts";
import { deadLinks } from "./support/packed-pages.ts";

interface Manifest {
  readonly engines: { readonly node: string };
  readonly files: readonly string[];
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>;
}

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
const { engines, files } = read("package.json") as Manifest;

/** Run when the package is built or in a clone, and not in the package. */
const SCRIPTS = new Set(["components/build.ts", "host/sandbox/prepare.ts"]);
/** Bundled when the package is built, or when a component is. */
const BUNDLED = (file: string) => /^(plugins\/page|components\/[^/]+)\//.test(file);

const FILES = globSync("{kernel,plugins,host,capabilities,components}/**/*.{ts,tsx,js}", {
  cwd: ROOT,
}).filter(
  (file) => !/(^|\/)(dist|node_modules|template)\//.test(file) && !SCRIPTS.has(file) && !BUNDLED(file),
);

/** Each import of a package, types included. */
const IMPORTS = FILES.flatMap((file) => {
  const text = readFileSync(join(ROOT, file), "utf8");
  const names = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)"((?:@[\w.-]+\/)?\w[\w.-]*)[/"]/g);
  return [...names].map(([, name = ""]) => ({ file, name }));
});

test("only building imports what building needs", () => {
  const builders = IMPORTS.filter(({ name }) => name in PACKAGES || name === "esbuild");
  expect(new Set(builders.map(({ name }) => name)).size).toBeGreaterThan(3);
  expect(builders.filter(({ file }) => !file.startsWith("host/author/build/"))).toEqual([]);
});

test("what the build checks the types of needs nothing that was built before", () => {
  const { include, exclude } = read(".tsconfig.build.json") as Record<"include" | "exclude", string[]>;
  const sources = globSync(
    include.map((folder) => `${folder}/**/*.ts`),
    { cwd: ROOT },
  ).filter((file) => !exclude.some((one) => file === one || file.startsWith(`${one}/`)));
  expect(sources.length).toBeGreaterThan(500);
  const own = /\bfrom "postern\//;
  expect(sources.filter((file) => own.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});

test.each(["wit/create-postern-tool", "plugins/create-postern-plugin"])(
  "%s is of the same version, runs on the same Node and brings nothing along",
  (folder) => {
    const { version } = read("package.json") as { version: string };
    expect(read(`${folder}/package.json`)).toMatchObject({ version, engines });
    expect(read(`${folder}/package.json`)).not.toHaveProperty("dependencies");
  },
);

test("every package in the lock file supports every Node that engines names", () => {
  const { packages } = read("package-lock.json") as Lock;
  const narrower = Object.entries(packages).filter(
    ([, { engines: own }]) => own?.node !== undefined && !subset(engines.node, own.node),
  );
  expect(narrower.map(([path, { engines: own }]) => `${path}: ${own?.node}`)).toEqual([]);
});

test("every dependency has a licence that is allowed", () => {
  const { packages } = read("package-lock.json") as { packages: Record<string, Locked> };
  const refused = Object.entries(packages).filter(
    ([path, locked]) => path !== "" && !isAllowed(licenseOf(path, locked), isInstalled(locked)),
  );
  expect(refused.map(([path, locked]) => `${path}: ${licenseOf(path, locked)}`)).toEqual([]);
  expect(isAllowed("GPL-3.0-only", false)).toBe(false);
  expect(isAllowed("MPL-2.0", true)).toBe(false);
  expect(isAllowed("MPL-2.0 OR Apache-2.0", true)).toBe(true);
});

test("the packages of the runtime are those that were looked at, and none was found to differ", () => {
  const { packages } = read(".package/runtime.json") as {
    packages: Record<string, { integrity: string; verdict: string }>;
  };
  const locked = read("package-lock.json") as { packages: Record<string, { integrity: string }> };
  const { optionalDependencies } = read("package.json") as { optionalDependencies: Record<string, string> };
  expect(Object.keys(packages)).toEqual(Object.keys(optionalDependencies));
  for (const [name, { integrity, verdict }] of Object.entries(packages)) {
    expect(locked.packages[`node_modules/${name}`]?.integrity).toBe(integrity);
    expect(["same", "not compared"]).toContain(verdict);
  }
});

test("SECURITY.md names every package of the runtime and who publishes it", () => {
  const { packages } = read(".package/runtime.json") as { packages: Record<string, { publisher: string }> };
  const page = readFileSync(join(ROOT, "SECURITY.md"), "utf8");
  for (const [name, { publisher }] of Object.entries(packages)) {
    expect(page).toContain(`\`${name}\``);
    expect(page).toContain(publisher.replace(/^git\+|\.git$/g, ""));
  }
});

/** As npm reads `files`: a folder stands for all that is in it, and npm adds README and LICENSE. */
function packedFiles(): readonly string[] {
  const expand = (patterns: readonly string[]) => {
    const found = patterns.flatMap((pattern) => globSync([pattern, `${pattern}/**`], { cwd: ROOT }));
    return found.filter((path) => statSync(join(ROOT, path)).isFile());
  };
  const left = new Set(expand(files.flatMap((one) => (one.startsWith("!") ? [one.slice(1)] : []))));
  const wanted = expand(files.filter((one) => !one.startsWith("!")));
  return [...new Set(["README.md", "LICENSE", ...wanted])].filter((path) => !left.has(path));
}

test("the pages that people need are in the package, and so is all that they link to", () => {
  const packed = packedFiles();
  expect(packed).toEqual(
    expect.arrayContaining([
      ...["wit/README.md", "plugins/README.md", "plugins/store/README.md", "SECURITY.md"],
      ...["plugins/responses/RECIPES.md", ".docs/architecture.md", ".docs/troubleshooting.md"],
    ]),
  );
  expect(deadLinks(ROOT, packed)).toEqual([]);
});
