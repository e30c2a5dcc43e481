/** Debian's Rust, where it is installed: rustup's may lack the target, and Debian's crates need no network. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../home.ts";
import { describeWhere } from "../run/needs.ts";
import { pathWithPostern } from "./projects.ts";

const BIN = "/usr/bin";
const CRATES = "/usr/share/cargo/registry";

const hasRust =
  ["cargo", "rustc", "wasm-ld"].every((program) => existsSync(join(BIN, program))) &&
  existsSync(
    execFileSync(join(BIN, "rustc"), ["--print=target-libdir", "--target=wasm32-unknown-unknown"], {
      encoding: "utf8",
    }).trim(),
  ) &&
  existsSync(CRATES) &&
  readdirSync(CRATES).some((crate) => crate.startsWith("serde_json-"));

export const describeRust = describeWhere(
  hasRust,
  "Debian's Rust (apt-get install rustc cargo lld libstd-rust-dev-wasm32 librust-serde-json-dev)",
);

/** What makes `postern` and `cargo` work as for an author who has Rust; crates are compiled once for a folder. */
export function rustEnvironment(folder: string): Record<string, string> {
  const home = join(folder, "cargo");
  mkdirSync(home);
  const source = `[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "${CRATES}"\n`;
  writeFileSync(join(home, "config.toml"), source);
  return {
    PATH: pathWithPostern(folder, BIN),
    CARGO_HOME: home,
    CARGO_TARGET_DIR: join(folder, "target"),
    // Nobody debugs what is made here.
    CARGO_PROFILE_DEV_DEBUG: "0",
    CARGO_INCREMENTAL: "0",
  };
}

/** A PATH to a folder that has these of Debian's programs and nothing else; each may be given further arguments. */
export function pathTo(programs: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [program, more] of Object.entries(programs))
    writeFileSync(join(folder, program), `#!/bin/sh\nexec ${BIN}/${program} ${more} "$@"\n`, { mode: 0o755 });
  return folder;
}
