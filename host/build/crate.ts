/** A Rust project, by cargo, which makes a component of it by itself. Its complaints go to the terminal as they are. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Fault } from "../../kernel/plugin.ts";
import type { Project } from "../project.ts";

const TARGET = "wasm32-wasip2";
const COMPILER = "rustc";

export async function buildCrate(
  { folder, name }: Project,
  progress: (line: string) => void,
): Promise<Uint8Array> {
  await assertToolchain(folder);
  progress(`cargo build --release --target ${TARGET}`);
  const cargo = spawn("cargo", ["build", "--release", "--target", TARGET], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    cargo.once("error", reject);
    cargo.once("close", resolve);
  });
  if (code !== 0) throw new Fault("invalid", "build_failed", "not built: cargo says why above");
  return readFile(join(folder, "target", TARGET, "release", `${name.replaceAll("-", "_")}.wasm`));
}

async function assertToolchain(cwd: string): Promise<void> {
  const rustc = spawn(COMPILER, ["--print", "target-libdir", "--target", TARGET], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<boolean>((resolve) => {
    rustc.once("error", () => resolve(false));
    rustc.once("close", (code) => resolve(code === 0));
  });
  const [libraries, isThere] = await Promise.all([text(rustc.stdout).catch(() => ""), ended]);
  if (!isThere) throw unavailable(`${COMPILER} does not run here. Install Rust from https://rustup.rs`);
  if (!existsSync(libraries.trim()))
    throw unavailable(`Rust is here, but not its target ${TARGET}: rustup target add ${TARGET}`);
}

function unavailable(message: string): Fault {
  return new Fault("unavailable", "no_rust", `a Rust tool cannot be built here: ${message}`);
}
