/**
 * `npm run verify <tarball>`: packs this clone again and lists the files that differ from the tarball. The two have to be identical, byte for
 * byte. Components are packed as committed, so it also builds them and names those that do not match their sources.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../kernel/package.ts";
import { compareFiles } from "./compare.ts";

const run = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 26,
  });
const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Returns the tarball of this clone. */
function pack(folder: string): string {
  run("npm", "pack", "--silent", "--pack-destination", folder);
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
}

function unpack(tarball: string, folder: string): string {
  run("tar", "-xzf", tarball, "-C", folder);
  return join(folder, "package");
}

function verify(tarball: string, folder: string): readonly string[] {
  const made = (name: string) => mkdtempSync(join(folder, name));
  const bytes = readFileSync(tarball);
  const theirs = unpack(tarball, made("theirs-"));
  rmSync(join(ROOT, "dist"), { recursive: true, force: true });
  say(`Packing ${ROOT} …`);
  const ours = pack(made("ours-"));
  const files = compareFiles(theirs, unpack(ours, made("built-")));
  const copy = readFileSync(ours);
  say(`SHA-256 of the tarball:    ${hash("sha256", bytes)}`);
  say(`of the one of this clone:  ${hash("sha256", copy)}`);
  if (files.length === 0 && !copy.equals(bytes))
    say(
      gunzipSync(copy).equals(gunzipSync(bytes))
        ? "The same archive, compressed by another Node."
        : "The same files in another archive, made by another npm.",
    );
  say("Components:");
  return [...files, ...checkComponents()];
}

function checkComponents(): readonly string[] {
  const args = ["components/build.ts", "--check"];
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
  return status === 0 ? [] : ["components: not all are made from their sources"];
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
