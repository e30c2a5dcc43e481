/** `node host/sandbox/prepare.ts <cache> <module>…`: bundles the code of a tool's process. See `prepared.ts`. */
import { hash, randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../kernel/kit/files.ts";
import { type Bundle, NEWEST, stateOf } from "./prepared.ts";

// A service keeps its files to itself; this is for everybody who uses this clone.
process.umask(0o022);
const [cache = "", ...modules] = process.argv.slice(2);
const { outputFiles, metafile } = await build({
  entryPoints: modules,
  absWorkingDir: ROOT,
  outdir: cache,
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node26",
  // They look for files beside themselves.
  external: ["piscina", "@bytecodealliance/*"],
  metafile: true,
  write: false,
});
const hashes = outputFiles.map(({ path, hash }) => [basename(path), hash]);
// A process that still runs may start threads from an older bundle, so each has a folder of its own.
const folder = hash("sha256", JSON.stringify(hashes)).slice(0, 16);
const inputs = Object.fromEntries(Object.keys(metafile.inputs).map((file) => [file, stateOf(file)]));
const bundle: Bundle = { folder, inputs };

const temporary = join(cache, randomUUID());
await mkdir(temporary, { recursive: true });
await Promise.all(
  outputFiles.map(({ path, contents }) => writeFile(join(temporary, basename(path)), contents)),
);
await rename(temporary, join(cache, folder)).catch(async () => {
  // Somebody else made the same one.
  await stat(join(cache, folder));
  await rm(temporary, { recursive: true });
});
await writeFile(`${temporary}.json`, JSON.stringify(bundle));
await rename(`${temporary}.json`, join(cache, NEWEST));
