/**
 * `node .package/sbom.ts <file>`: the bill of materials of the package, a CycloneDX document: what the lock file installs with it, and what is bundled
 * into it. The same lock file and sources make the same bytes. `npm sbom --omit dev` leaves out whatever a development dependency needs, too.
 */
import { hash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../kernel/package.ts";
import { OPTIONS as PAGE } from "../plugins/page/build.ts";
import { bundledPackages, packagesOf } from "./bundle.ts";
import { isAllowed, isInstalled, type Locked, licenseOf, nameOf, UNCHANGED } from "./licenses.ts";

/** Put into the package as files: the engines inside of components, and what the page draws diagrams with. */
const COPIED = ["@bytecodealliance/componentize-js", "componentize-qjs", "mermaid"];

/** npm writes this time on every file of a package. */
const TIME = "1985-10-26T08:15:00.000Z";

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
const locked = read("package-lock.json").packages as Readonly<Record<string, Locked>>;

/** Returns the packages whose code is in our own files, as the lock file names them. */
async function findBundled(): Promise<readonly string[]> {
  const files = [...COPIED.map((name) => `node_modules/${name}/`), ...(await bundledPackages())];
  const unwritten = { absWorkingDir: ROOT, outdir: ROOT, write: false, metafile: true } as const;
  files.push(...Object.keys((await build({ ...PAGE, ...unwritten })).metafile.inputs));
  for (const record of globSync("components/*/dist/*.build.json", { cwd: ROOT }))
    files.push(...Object.keys(read(record).sources));
  return packagesOf(files);
}

const entry = (path: string): Locked =>
  locked[path] ?? fail(`${path} is in the package, and not in package-lock.json`);
const referenceOf = (path: string) => `${nameOf(path)}@${entry(path).version}`;

function toComponent(path: string, isBundled: boolean) {
  const { version, integrity = "", optional } = entry(path);
  const reference = referenceOf(path);
  return {
    type: "library",
    "bom-ref": reference,
    name: nameOf(path),
    version,
    scope: optional && !isBundled ? "optional" : "required",
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.slice(7), "base64").toString("hex") }],
    licenses: [{ expression: licenseOf(path, entry(path)) }],
    purl: `pkg:npm/${reference.replace(/^@/, "%40")}`,
    properties: [{ name: "postern:bundled", value: String(isBundled) }],
  };
}

/** Returns what a package needs, each where Node would find it. */
function needsOf(path: string): readonly string[] {
  const { dependencies = {}, optionalDependencies = {} } = entry(path);
  return Object.keys({ ...dependencies, ...optionalDependencies })
    .flatMap((name) => find(name, path) ?? [])
    .filter((found) => isInstalled(entry(found)));
}

function find(name: string, from: string): string | undefined {
  const path = `${from}/node_modules/${name}`.replace(/^\//, "");
  if (path in locked) return path;
  return from === "" ? undefined : find(name, from.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, ""));
}

function refuseLicenses(paths: readonly string[]): void {
  const refused = paths.filter(
    (path) => !isAllowed(licenseOf(path, entry(path)), !UNCHANGED.has(nameOf(path))),
  );
  if (refused.length > 0)
    fail(`No licence that .package/licenses.ts allows: ${refused.map(referenceOf).join(", ")}`);
}

/** The same content has the same number, as a UUID of version 8. */
function serialOf(content: object): string {
  const digits = hash("sha256", JSON.stringify(content));
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
  ];
  return `urn:uuid:${parts.join("-")}-${digits.slice(20, 32)}`;
}

function fail(message: string): never {
  throw new Error(message);
}

const bundled = new Set(await findBundled());
const paths = Object.keys(locked).filter(
  (path) => path !== "" && (bundled.has(path) || isInstalled(entry(path))),
);
refuseLicenses(paths);
const { name, version, license } = read("package.json");
const root = `${name}@${version}`;
const content = {
  metadata: {
    timestamp: TIME,
    component: {
      ...{ type: "application", "bom-ref": root, name, version, purl: `pkg:npm/${root}` },
      licenses: [{ expression: license }],
    },
  },
  // One version may be installed in several places.
  components: [
    ...new Map(paths.map((path) => [referenceOf(path), toComponent(path, bundled.has(path))])).values(),
  ],
  dependencies: [
    { ref: root, dependsOn: [...new Set([...needsOf(""), ...bundled].map(referenceOf))].sort() },
    ...new Map(
      paths.map((path) => {
        const ref = referenceOf(path);
        return [ref, { ref, dependsOn: [...new Set(needsOf(path).map(referenceOf))].sort() }];
      }),
    ).values(),
  ],
};
const head = { bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: serialOf(content), version: 1 };
const [file = "dist/sbom.cdx.json"] = process.argv.slice(2);
writeFileSync(join(ROOT, file), `${JSON.stringify({ ...head, ...content }, undefined, 1)}\n`);
process.stderr.write(`${file}: ${content.components.length} components\n`);
