/**
 * `npm run verify <tarball>`: packs this clone anew and says what in the tarball is not made from it. The engines of components draw random numbers
 * while a component is built, so the memory it starts from has other bytes each time; all else of a component is compared, and with the
 * tarball's components in place of ours the two packages have to be the same, byte for byte.
 */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../kernel/package.ts";
import { compareFiles, partsOf } from "./compare.ts";

const COMPONENTS = "components/*/dist/*.wasm.gz";

const run = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 26,
  });
const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Returns the tarball of this clone. */
function pack(folder: string, ...options: readonly string[]): string {
  run("npm", "pack", "--silent", "--pack-destination", folder, ...options);
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
}

function unpack(tarball: string, folder: string): string {
  run("tar", "-xzf", tarball, "-C", folder);
  return join(folder, "package");
}

function compareComponents(theirs: string, ours: string): readonly string[] {
  return globSync(COMPONENTS, { cwd: theirs }).flatMap((path) => {
    const [one, other] = [theirs, ours].map((folder) => gunzipSync(readFileSync(join(folder, path))));
    if (one === undefined || other === undefined) return [];
    if (one.equals(other)) say(`  ${path}: the same`);
    else if (partsOf(one).join() === partsOf(other).join())
      say(`  ${path}: the same but for the memory it starts from`);
    else return [`${path}: other code than this clone builds`];
    return [];
  });
}

function verify(tarball: string, folder: string): readonly string[] {
  const made = (name: string) => mkdtempSync(join(folder, name));
  const bytes = readFileSync(tarball);
  const theirs = unpack(tarball, made("theirs-"));
  rmSync(join(ROOT, "dist"), { recursive: true, force: true });
  say(`Packing ${ROOT} …`);
  const ours = unpack(pack(made("ours-")), made("built-"));
  say("Components:");
  const components = compareComponents(theirs, ours);
  const kept = made("components-");
  const built = globSync("components/*/dist", { cwd: ROOT });
  try {
    for (const path of built) cpSync(join(ROOT, path), join(kept, path), { recursive: true });
    for (const path of globSync(COMPONENTS, { cwd: theirs })) {
      writeFileSync(join(ROOT, path.replace(/\.gz$/, "")), gunzipSync(readFileSync(join(theirs, path))));
      run("node", "components/build.ts", "--code", basename(path, ".wasm.gz"));
    }
    run("node", ".package/compress.ts");
    const again = pack(made("again-"), "--ignore-scripts");
    const files = compareFiles(theirs, unpack(again, made("filled-")));
    const copy = readFileSync(again);
    say(`SHA-256 of the tarball:    ${hash("sha256", bytes)}`);
    say(`with its components, here: ${hash("sha256", copy)}`);
    if (files.length === 0 && !copy.equals(bytes))
      say(
        gunzipSync(copy).equals(gunzipSync(bytes))
          ? "The same archive, compressed by another Node."
          : "The same files in another archive, made by another npm.",
      );
    return [...components, ...files];
  } finally {
    for (const path of built) {
      rmSync(join(ROOT, path), { recursive: true, force: true });
      cpSync(join(kept, path), join(ROOT, path), { recursive: true });
    }
  }
}

const [tarball] = process.argv.slice(2);
if (tarball === undefined) {
  process.stderr.write("usage: npm run verify <tarball>\n");
  process.exit(2);
}
// What is built and copied here is for everybody, as in what is compared with it.
process.umask(0o022);
const folder = mkdtempSync(join(tmpdir(), "postern-verify-"));
try {
  if (run("git", "status", "--porcelain").trim() !== "")
    say("This clone has changes that are not committed.");
  const differences = verify(resolve(tarball), folder);
  for (const line of differences) say(line);
  say(differences.length === 0 ? "Verified." : `Not verified: ${differences.length} differences.`);
  process.exitCode = differences.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
