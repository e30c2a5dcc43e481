/** A Rust project: cargo makes a core module of it, and the WIT beside its sources a component of that. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Fault, reason } from "../../../kernel/plugin.ts";
import type { Project } from "../project.ts";
import { buildFault, type Mistake } from "./mistakes.ts";
import type { Toolchain } from "./toolchain.ts";

/** This target needs nothing beside Rust itself, and old and new compilers have it. */
const TARGET = "wasm32-unknown-unknown";
const WORLD = "rust-tool";

interface CrateOptions {
  readonly progress: (line: string) => void;
  readonly openToolchain: () => Promise<Toolchain>;
}

export async function buildCrate(
  project: Project,
  { progress, openToolchain }: CrateOptions,
): Promise<Uint8Array> {
  await assertTarget(project.folder);
  const binary = await readFile(await compile(project, progress));
  const texts = ["tool.wit", "rust.wit"].map((file) => readFile(join(project.wit, file), "utf8"));
  const witSource = (await Promise.all(texts)).join("\n");
  const { componentEmbed, componentNew } = await (await openToolchain()).load("@bytecodealliance/jco");
  try {
    return await componentNew(await componentEmbed({ binary, witSource, world: WORLD }), []);
  } catch (error) {
    const cause = reason(error)
      .split("\n")
      .at(-1)
      ?.replace(/^\W*\d+: /, "");
    const told = `not built: it does not match wit/tool.wit: ${cause}. Is bindings::export! there?`;
    throw new Fault("invalid", "build_failed", told, { cause: error });
  }
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

/** Returns the core module's file. Cargo's own output goes to the terminal as it is. */
async function compile({ folder, entry }: Project, progress: (line: string) => void): Promise<string> {
  progress(`cargo build --release --target ${TARGET}`);
  const format = process.stderr.isTTY ? "json-diagnostic-rendered-ansi" : "json";
  const cargo = spawn("cargo", ["build", "--release", "--target", TARGET, `--message-format=${format}`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = endOf(cargo);
  const mistakes: Mistake[] = [];
  let module: string | undefined;
  for await (const line of createInterface({ input: cargo.stdout })) {
    // Macros of other crates may print there, too.
    if (!line.startsWith("{")) continue;
    const { target, filenames, message } = JSON.parse(line) as Message;
    if (target?.kind.includes("cdylib")) module = filenames?.find((file) => file.endsWith(".wasm")) ?? module;
    if (message === undefined) continue;
    progress(message.rendered.trimEnd());
    if (message.level === "error" && !message.message.startsWith("aborting due to"))
      mistakes.push(toMistake(message, relative(folder, entry)));
  }
  const code = await ended;
  if (code === undefined) throw unavailable(`cargo cannot be run. ${INSTALL}`);
  if (mistakes.some(({ message }) => /^linker `.*` not found/.test(message)))
    throw unavailable("its linker is missing. On Debian: apt-get install lld");
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

const INSTALL = `Install Rust from https://rustup.rs, then: rustup target add ${TARGET}`;

async function assertTarget(cwd: string): Promise<void> {
  const rustc = spawn("rustc", ["--print", "target-libdir", "--target", TARGET], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [libraries, code] = await Promise.all([text(rustc.stdout).catch(() => ""), endOf(rustc)]);
  if (code !== 0) throw unavailable(`rustc cannot be run. ${INSTALL}`);
  if (!existsSync(libraries.trim())) {
    const how = `rustup target add ${TARGET} (on Debian: apt-get install libstd-rust-dev-wasm32 lld)`;
    throw unavailable(`Rust is installed, but not its target ${TARGET}: ${how}`);
  }
}

/** The exit code; undefined where it could not be started. */
function endOf(child: ChildProcess): Promise<number | null | undefined> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", resolve);
  });
}

function unavailable(message: string): Fault {
  return new Fault("unavailable", "no_rust", `a Rust tool cannot be built here: ${message}`);
}
