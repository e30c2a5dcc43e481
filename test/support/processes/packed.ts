/** Postern as `npm install` would lay it out: packed, unpacked, its dependencies linked instead of fetched. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../clone.ts";
import { temporaryFolder } from "../home.ts";

const run = promisify(execFile);

export interface Installed {
  /** The folder with `node_modules/postern` in it. */
  readonly folder: string;
  readonly bin: string;
}

export async function installPacked(): Promise<Installed> {
  const folder = temporaryFolder();
  // Built by its own script, as a publisher would; from a copy, since other tests use what is built in the clone.
  const cwd = copyOfClone();
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  const modules = join(folder, "node_modules");
  const home = join(modules, "postern");
  mkdirSync(home, { recursive: true });
  await run("tar", ["-xzf", join(folder, tarball), "-C", home, "--strip-components=1"]);
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  return { folder, bin: join(home, "kernel", "cli", "bin.js") };
}

/** The sources, without what was built from them. */
function copyOfClone(): string {
  const copy = join(temporaryFolder(), "postern");
  const isSource = (path: string) =>
    !/(?:^|\/)(?:node_modules|dist)$|^(?:test|\.git)$/.test(relative(ROOT, path));
  cpSync(ROOT, copy, { recursive: true, filter: isSource });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}
