/**
 * The Node that comes with the package is a third party's build for npm. `node .package/runtime.ts compare` holds it, for every
 * platform, against the official archive and writes `runtime.json`; `node .package/runtime.ts check`, which packing runs, refuses
 * other packages than those that were looked at, and any that was found to differ.
 */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Compared {
  /** The digest of the package, as npm writes it. */
  readonly integrity: string;
  /** The repository that the package says it is built by. */
  readonly publisher: string;
  /** SHA-256 of the program in the package. */
  readonly program: string;
  /** SHA-256 of the program in the official archive, or why it is not known. */
  readonly official: string;
  readonly verdict: "same" | "differs" | "not compared";
}

interface Comparison {
  readonly date: string;
  readonly packages: Readonly<Record<string, Compared>>;
}

const ROOT = join(import.meta.dirname, "..");
const FILE = join(import.meta.dirname, "runtime.json");
const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
const { optionalDependencies: versions } = read(join(ROOT, "package.json")) as {
  optionalDependencies: Record<string, string>;
};
const MAX_BYTES = 1024 * 1024 * 1024;
const TIMEOUT_MS = 300_000;

async function compare(name: string, version: string, folder: string): Promise<Compared> {
  const packed = execFileSync("npm", ["pack", `${name}@${version}`, "--json"], {
    cwd: folder,
    maxBuffer: MAX_BYTES,
  });
  const [{ filename, integrity }] = JSON.parse(packed.toString()) as [
    { filename: string; integrity: string },
  ];
  const platform = name.replace(/^node-(?:bin-)?/, "");
  const inPackage = platform.startsWith("win") ? "package/bin/node.exe" : "package/bin/node";
  const program = hash("sha256", fileIn(join(folder, filename), inPackage));
  const manifest = JSON.parse(fileIn(join(folder, filename), "package/package.json").toString());
  const known = { integrity, publisher: manifest.repository.url as string, program };
  try {
    const official = await officialProgram(version, platform, folder);
    return { ...known, official, verdict: official === program ? "same" : "differs" };
  } catch (error) {
    const { message, cause } = error as Error;
    const why = `${message}${cause instanceof Error ? ` (${cause.message || cause.name})` : ""}`;
    return { ...known, official: why, verdict: "not compared" };
  }
}

function fileIn(archive: string, path: string): Buffer {
  return execFileSync("tar", ["-xzOf", archive, path], { maxBuffer: MAX_BYTES });
}

/** Returns the program from an archive whose checksum is in the official list. */
async function officialProgram(version: string, platform: string, folder: string): Promise<string> {
  const sums = (await get(version, "SHASUMS256.txt")).toString();
  const sumOf = (file: string) =>
    sums
      .split("\n")
      .find((line) => line.endsWith(`  ${file}`))
      ?.split(" ")[0];
  // Windows has the program beside the archives.
  if (platform.startsWith("win"))
    return sumOf(`${platform}/node.exe`) ?? fail(`No checksum of ${platform}/node.exe`);
  const name = `node-v${version}-${platform}`;
  const archive = await get(version, `${name}.tar.gz`);
  if (hash("sha256", archive) !== sumOf(`${name}.tar.gz`))
    fail(`${name}.tar.gz is not what SHASUMS256.txt names`);
  const file = join(folder, `${name}.tar.gz`);
  writeFileSync(file, archive);
  return hash("sha256", fileIn(file, `${name}/bin/node`));
}

async function get(version: string, file: string): Promise<Buffer> {
  const url = `https://nodejs.org/dist/v${version}/${file}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return answer.ok ? Buffer.from(await answer.arrayBuffer()) : fail(`${url} answered ${answer.status}`);
}

function fail(message: string): never {
  throw new Error(message);
}

async function compareAll(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "postern-runtime-"));
  try {
    const packages: Record<string, Compared> = {};
    for (const [name, version] of Object.entries(versions)) {
      packages[name] = await compare(name, version, folder);
      process.stdout.write(`${name}@${version}: ${packages[name].verdict}\n`);
    }
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync(FILE, `${JSON.stringify({ date, packages } satisfies Comparison, null, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function check(): void {
  const { date, packages } = read(FILE) as Comparison;
  const locked = read(join(ROOT, "package-lock.json")) as {
    packages: Record<string, { integrity?: string }>;
  };
  const wrong = Object.keys(versions).filter((name) => {
    const { integrity, verdict } = packages[name] ?? {};
    return (
      integrity === undefined ||
      verdict === "differs" ||
      locked.packages[`node_modules/${name}`]?.integrity !== integrity
    );
  });
  if (wrong.length > 0)
    fail(
      `${wrong.join(", ")}: not the packages that were looked at on ${date}, or not the official Node. Run: node .package/runtime.ts compare`,
    );
  const open = Object.keys(versions).filter((name) => packages[name]?.verdict === "not compared");
  if (open.length > 0)
    process.stderr.write(
      `Not compared with the official archive yet: ${open.join(", ")}. Run, with a network: node .package/runtime.ts compare\n`,
    );
}

const [what] = process.argv.slice(2);
if (what === "compare") await compareAll();
else if (what === "check") check();
else fail("Use: node .package/runtime.ts compare, or check");
