/** Postern as `npm install` would lay it out: packed, unpacked, its dependencies linked instead of fetched. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../clone.ts";
import { temporaryFolder } from "../home.ts";
import { builtComponent } from "../tools/shipped.ts";

const run = promisify(execFile);

export interface Installed {
  /** The folder with `node_modules/postern` in it. */
  readonly folder: string;
  readonly bin: string;
}

/** What publishing runs first. `installPacked` does the same, but builds a component only where it has changed. */
export const PREPACK =
  "npm run build && node components/build.ts convert && node components/build.ts weather && node components/build.ts github-issues";

export async function installPacked(): Promise<Installed> {
  const folder = temporaryFolder();
  // From a copy, since other tests use what is built in the clone.
  const cwd = copyOfClone();
  // `npm run check` has checked the types.
  const build = readScripts(cwd).build.replace("tsc -p", "tsc --noCheck -p");
  const PATH = [join(ROOT, "node_modules", ".bin"), process.env["PATH"]].join(":");
  await run("sh", ["-c", build], { cwd, env: { ...process.env, PATH } });
  for (const name of ["convert", "weather", "github-issues"]) {
    const dist = join(cwd, "components", name, "dist");
    mkdirSync(dist);
    writeFileSync(join(dist, `${name}.wasm`), await builtComponent(name));
  }
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], { cwd });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  const modules = join(folder, "node_modules");
  const home = join(modules, "postern");
  mkdirSync(home, { recursive: true });
  await run("tar", ["-xzf", join(folder, tarball), "-C", home, "--strip-components=1"]);
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  return { folder, bin: join(home, "kernel", "cli", "bin.js") };
}

function readScripts(folder: string): { readonly build: string } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).scripts;
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
