/** A Rust project: cargo makes a core module of it, and the WIT beside its sources a component of that. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Fault } from "../../../kernel/plugin.ts";
import type { Project } from "../project.ts";
import { cannotRun, endOf } from "./compiler.ts";
import { toComponent } from "./core-module.ts";
import { buildFault, type Mistake } from "./mistakes.ts";
import type { Toolchain } from "./toolchain.ts";

/** This target needs nothing beside Rust itself, and old and new compilers have it. */
const BARE = ["wasm32-unknown-unknown"] as const;
/** With them Rust's standard library has a clock and randomness. One target: new compilers have the first name, old ones the second. */
const WASI = ["wasm32-wasip1", "wasm32-wasi"] as const;
/** In Cargo.toml. */
const ASKS_FOR_WASI = /^\[package\.metadata\.postern\]\s*$(?:\n(?!\[).*)*?\n\s*wasi\s*=\s*true\s*$/m;
const WORLD = "rust-tool";

interface CrateOptions {
  readonly progress: (line: string) => void;
  readonly openToolchain: () => Promise<Toolchain>;
}

export async function buildCrate(
  project: Project,
  { progress, openToolchain }: CrateOptions,
): Promise<Uint8Array> {
  const manifest = await readFile(join(project.folder, "Cargo.toml"), "utf8").catch(() => "");
  const targets = ASKS_FOR_WASI.test(manifest) ? WASI : BARE;
  const target = await findTarget(project.folder, targets);
  const binary = await readFile(await compile(project, target, progress));
  const texts = ["tool.wit", "rust.wit"].map((file) => readFile(join(project.wit, file), "utf8"));
  const wit = (await Promise.all(texts)).join("\n");
  const module = {
    binary,
    wit,
    world: WORLD,
    usesWasi: targets === WASI,
    hint: "Is bindings::export! there?",
  };
  return toComponent(module, await openToolchain());
}

interface Message {
  readonly reason: string;
  readonly target?: { readonly kind: readonly string[] };
  readonly filenames?: readonly string[];
  readonly message?: Diagnostic;
}

interface Diagnostic {
  readonly level: string;
  readonly message: string;
  /** As rustc shows it, with the source. */
  readonly rendered: string;
  readonly spans: readonly Span[];
}

interface Span {
  readonly is_primary: boolean;
  readonly file_name: string;
  readonly line_start: number;
  readonly column_start: number;
  readonly label: string | null;
}

async function compile(
  { folder, entry }: Project,
  target: string,
  progress: (line: string) => void,
): Promise<string> {
  progress(`cargo build --release --target ${target}`);
  const format = process.stderr.isTTY ? "json-diagnostic-rendered-ansi" : "json";
  const cargo = spawn("cargo", ["build", "--release", "--target", target, `--message-format=${format}`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = endOf(cargo);
  const mistakes: Mistake[] = [];
  let module: string | undefined;
  for await (const line of createInterface({ input: cargo.stdout })) {
    // Macros of other crates may print there, too.
    if (!line.startsWith("{")) continue;
    const { target: made, filenames, message } = JSON.parse(line) as Message;
    if (made?.kind.includes("cdylib")) module = filenames?.find((file) => file.endsWith(".wasm")) ?? module;
    if (message === undefined) continue;
    progress(message.rendered.trimEnd());
    if (message.level === "error" && !message.message.startsWith("aborting due to"))
      mistakes.push(toMistake(message, relative(folder, entry)));
  }
  const code = await ended;
  if (code === undefined) throw cannotRun(`cargo cannot be run. ${howToInstall(target)}`);
  if (mistakes.some(({ message }) => /^linker `.*` not found/.test(message)))
    throw cannotRun("its linker is missing. On Debian: apt-get install lld");
  if (mistakes.length > 0) throw buildFault(mistakes);
  if (code !== 0) throw new Fault("invalid", "build_failed", "not built: see cargo's output above");
  if (module === undefined)
    throw new Fault("invalid", "build_failed", 'not built: Cargo.toml must say crate-type = ["cdylib"]');
  return module;
}

function toMistake({ message, spans }: Diagnostic, entry: string): Mistake {
  const span = spans.find(({ is_primary }) => is_primary);
  if (span === undefined) return { file: entry, line: 0, column: 0, message };
  const { file_name: file, line_start: line, column_start: column, label } = span;
  return { file, line, column, message: label ? `${message}: ${label}` : message };
}

function howToInstall(target: string): string {
  return `Install Rust from https://rustup.rs, then: rustup target add ${target}`;
}

async function findTarget(cwd: string, targets: typeof BARE | typeof WASI): Promise<string> {
  const [first] = targets;
  let isKnown = false;
  for (const target of targets) {
    const rustc = spawn("rustc", ["--print", "target-libdir", "--target", target], {
      cwd,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [libraries, code] = await Promise.all([text(rustc.stdout).catch(() => ""), endOf(rustc)]);
    isKnown ||= code === 0;
    if (code === 0 && existsSync(libraries.trim())) return target;
  }
  if (!isKnown) throw cannotRun(`rustc cannot be run. ${howToInstall(first)}`);
  const how = `rustup target add ${first} (on Debian: apt-get install libstd-rust-dev-wasm32 lld)`;
  throw cannotRun(`Rust is installed, but not its target ${first}: ${how}`);
}
