/** `node .package/modes.ts`: npm packs the modes that files have, and those depend on who cloned and built. Everybody may read what is packed. */
import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../kernel/package.ts";

const args = ["pack", "--dry-run", "--ignore-scripts", "--json"];
const listed = execFileSync("npm", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 2 ** 26 });
const [{ files }] = JSON.parse(listed) as [{ files: readonly { path: string; mode: number }[] }];
for (const { path, mode } of files) chmodSync(join(ROOT, path), (mode & 0o100) === 0 ? 0o644 : 0o755);
