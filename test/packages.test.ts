/** What the published package brings: all that the service imports, nothing that only building needs, on which Node. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { subset } from "semver";
import { expect, test } from "vitest";
import { PACKAGES } from "../host/author/build/toolchain.ts";
import { ROOT } from "../kernel/package.ts";

interface Manifest {
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>;
}

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
const { engines, dependencies } = read("package.json") as Manifest;

/** Run when the package is built or in a clone, and not in the package. */
const SCRIPTS = new Set(["components/build.ts", "kernel/cli/bundle.ts", "host/sandbox/prepare.ts"]);
/** Bundled when the package is built, or when a component is. */
const BUNDLED = (file: string) => /^(plugins\/gateway\/page|components\/[^/]+)\//.test(file);

const FILES = globSync("{kernel,plugins,host,capabilities,components}/**/*.{ts,tsx,js}", {
  cwd: ROOT,
}).filter((file) => !/(^|\/)(dist|node_modules)\//.test(file) && !SCRIPTS.has(file) && !BUNDLED(file));

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

test("what the service imports is a dependency of the published package", () => {
  // What is bundled is imported by one module each.
  const bundled = {
    "host/wasm/component-reader.ts": "@bytecodealliance/jco-transpile",
    "kernel/text/code-colours.ts": "highlight.js",
    "plugins/store/sqlite/keyv.ts": "@keyv/sqlite",
  };
  const missing = IMPORTS.filter(({ name }) => !(name in dependencies) && !(name in PACKAGES));
  expect(IMPORTS.length).toBeGreaterThan(50);
  expect(Object.fromEntries(missing.map(({ file, name }) => [file, name]))).toEqual(bundled);
});

test("npm create postern-tool is of the same version, runs on the same Node and brings nothing along", () => {
  const { version } = read("package.json") as { version: string };
  expect(read("wit/create-postern-tool/package.json")).toMatchObject({ version, engines });
  expect(read("wit/create-postern-tool/package.json")).not.toHaveProperty("dependencies");
});

test("every package in the lock file supports every Node that engines names", () => {
  const { packages } = read("package-lock.json") as Lock;
  const narrower = Object.entries(packages).filter(
    ([, { engines: own }]) => own?.node !== undefined && !subset(engines.node, own.node),
  );
  expect(narrower.map(([path, { engines: own }]) => `${path}: ${own?.node}`)).toEqual([]);
});
