/** What takes seconds to build, kept in the user's cache folder under a digest of everything it was made from. */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES } from "../../../host/author/build/toolchain.ts";
import { ROOT } from "../clone.ts";
import { alone, CACHE } from "./alone.ts";

/** Counts the changes to how fixtures are built. */
const REVISION = "2";

/** The contract and the versions of the build tools always count; `inputs` are what else goes into it. */
export async function kept(
  name: string,
  inputs: readonly (string | Uint8Array)[],
  make: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const hash = createHash("sha256");
  for (const input of [REVISION, JSON.stringify(PACKAGES), read("wit/tool.wit"), ...inputs])
    hash.update(`${Buffer.byteLength(input)} `).update(input);
  const file = join(CACHE, `${name}-${hash.digest("hex").slice(0, 16)}.wasm`);
  if (!existsSync(file))
    await alone(name, async () => {
      if (existsSync(file)) return;
      // Moved into place when it is whole.
      const draft = `${file}.draft`;
      writeFileSync(draft, await make());
      renameSync(draft, file);
    });
  return new Uint8Array(readFileSync(file));
}

/** What `postern tool build` adds to a project's own files: an input of everything that it built. */
export function builderInputs(): readonly Uint8Array[] {
  const files = globSync(
    ["host/author/{build,trace}/*.ts", "host/author/project.ts", "wit/*.{js,ts}", "package-lock.json"],
    { cwd: ROOT },
  );
  return files.toSorted().map(read);
}

function read(file: string): Uint8Array {
  return readFileSync(join(ROOT, file));
}
