/** `node .package/compress.ts`: compresses the components that are packed. What they are transpiled to stays as it is, to be read at every start. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { ROOT } from "../kernel/package.ts";

for (const path of globSync("components/*/dist/*.wasm", { cwd: ROOT })) {
  const file = join(ROOT, path);
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION }));
}
