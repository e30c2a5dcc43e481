/** Postern as `npm install` would lay it out: packed, unpacked, its dependencies linked instead of fetched. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../clone.ts";
import { temporaryFolder } from "../home.ts";

export interface Installed {
  /** The folder with `node_modules/postern` in it. */
  readonly folder: string;
  readonly bin: string;
}

export function installPacked(): Installed {
  const folder = temporaryFolder();
  // Built by its own script, as a publisher would.
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: ROOT, stdio: "pipe" });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  const modules = join(folder, "node_modules");
  const home = join(modules, "postern");
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", home, "--strip-components=1"]);
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  return { folder, bin: join(home, "kernel", "cli", "bin.js") };
}
