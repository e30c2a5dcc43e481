/** Postern as `npm install` would lay it out: packed, unpacked, its dependencies linked instead of fetched. */
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { NAMES } from "../../../components/build.ts";
import { ROOT } from "../clone.ts";
import { temporaryFolder } from "../home.ts";
import { alone, CACHE } from "../tools/alone.ts";
import { prepareShipped } from "../tools/shipped.ts";
import { afterThisTest, type Later } from "../undo.ts";

const run = promisify(execFile);

export interface Installed {
  /** The folder with `node_modules/postern` in it. */
  readonly folder: string;
  readonly bin: string;
}

/** What publishing runs first. `packPostern` does the same, but transpiles a component only where it has changed. */
export const PREPACK =
  "node .package/runtime.ts check && npm run build && node components/build.ts --code && node .package/sbom.ts && node .package/modes.ts";

/** Returns the tarball's path. Only root can pack as somebody else (`uid`). */
export async function packPostern(
  later = afterThisTest,
  variables: Readonly<Record<string, string>> = {},
  uid?: number,
): Promise<string> {
  const folder = temporaryFolder(later);
  // From a copy, since other tests use what is built in the clone.
  const cwd = copyOfClone(later);
  const who = uid === undefined ? {} : { uid, gid: uid };
  const giveAway = () =>
    uid !== undefined && execFileSync("chown", ["-hR", `${uid}:${uid}`, dirname(cwd), folder]);
  giveAway();
  // `npm run check` has checked the types.
  const build = readScripts(cwd).build.replace("tsc -p", "tsc --noCheck -p");
  const PATH = [join(ROOT, "node_modules", ".bin"), process.env["PATH"]].join(":");
  const env = { ...process.env, ...variables, PATH };
  await run("sh", ["-c", build], { cwd, env, ...who });
  await prepareShipped();
  for (const name of NAMES)
    cpSync(join(ROOT, "components", name, "dist"), join(cwd, "components", name, "dist"), {
      recursive: true,
    });
  giveAway();
  for (const step of ["sbom", "modes"])
    await run(process.execPath, [`.package/${step}.ts`], { cwd, env, ...who });
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  await run("npm", pack, { cwd, env, ...who });
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
}

/** Returns the path of a tarball of the sources as they are. Packing takes most of a minute, so the tests of a run share one. */
export async function packedPostern(later = afterThisTest): Promise<string> {
  const shared = join(CACHE, `packed-${digestOf(copyOfClone(later))}.tgz`);
  const own = join(temporaryFolder(later), "postern.tgz");
  await alone("packed", async () => {
    if (!existsSync(shared)) {
      const tarball = await packPostern(later);
      for (const old of globSync("packed-*", { cwd: CACHE })) rmSync(join(CACHE, old), { force: true });
      // Moved into place when it is whole.
      copyFileSync(tarball, `${shared}.draft`);
      renameSync(`${shared}.draft`, shared);
    }
    copyFileSync(shared, own);
  });
  return own;
}

export async function installPacked(): Promise<Installed> {
  const folder = temporaryFolder();
  const tarball = await packedPostern();
  const modules = join(folder, "node_modules");
  const home = join(modules, "postern");
  mkdirSync(home, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", home, "--strip-components=1"]);
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  return { folder, bin: join(home, "kernel", "cli", "bin.js") };
}

function readScripts(folder: string): { readonly build: string } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).scripts;
}

/** The sources, without what was built from them. */
function copyOfClone(later: Later): string {
  const copy = join(temporaryFolder(later), "postern");
  const isSource = (path: string) =>
    !/(?:^|\/)(?:node_modules|dist)$|^(?:test|\.git)$/.test(relative(ROOT, path));
  cpSync(ROOT, copy, { recursive: true, filter: isSource });
  for (const published of ["test/bench/README.md", "test/simulation/README.md", "test/channel-contract"])
    cpSync(join(ROOT, published), join(copy, published), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Counts names and contents of all files, but not those of packages, which the lock names. */
function digestOf(folder: string): string {
  const digest = createHash("sha256");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()) {
    const content = readFileSync(path);
    digest.update(`${relative(folder, path)} ${content.byteLength} `).update(content);
  }
  return digest.digest("hex").slice(0, 16);
}
