/** A C project: clang and wasi-libc make a core module of it, and the WIT a component of that. */
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Project } from "../project.ts";
import { runCompiler } from "./compiler.ts";
import { toComponent } from "./core-module.ts";
import type { Toolchain } from "./toolchain.ts";

interface CompileOptions {
  readonly progress: (line: string) => void;
  readonly openToolchain: () => Promise<Toolchain>;
}

const NOT_SOURCES = new Set(["dist", "node_modules", ".postern", ".git"]);

const ARGUMENTS = [
  "--target=wasm32-wasi",
  // Its functions are called one by one; there is no main().
  "-mexec-model=reactor",
  "-O2",
  "-Wall",
  "-D_GNU_SOURCE",
  "-I.",
  "-Wl,--strip-all",
];

/** The linker, the C library, or the compiler's own runtime. */
const ABSENT =
  /invalid linker name|unable to execute command|'std(?:io|lib)\.h' file not found|cannot open .*(?:crt1-reactor|libclang_rt|libc\.a)|unable to find library -lc/;

const HOW_TO_INSTALL =
  "On Debian: apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32 (14 is clang's version). Elsewhere put the bin folder of wasi-sdk on the PATH: https://github.com/WebAssembly/wasi-sdk";

export async function buildC(project: Project, options: CompileOptions): Promise<Uint8Array> {
  const { folder, wit } = project;
  const exclude = (path: string) => path.split("/").some((name) => NOT_SOURCES.has(name));
  const sources = (await Array.fromAsync(glob("**/*.c", { cwd: folder, exclude }))).toSorted();
  const made = await mkdtemp(join(tmpdir(), "postern-build-"));
  const module = join(made, "tool.wasm");
  try {
    await runCompiler({
      program: "clang",
      args: [...ARGUMENTS, "-o", module, ...sources],
      cwd: folder,
      mistake: /^(?<file>[^\s:]+):(?<line>\d+):(?<column>\d+): (?:fatal )?error: (?<message>.*)$/,
      absent: ABSENT,
      howToInstall: HOW_TO_INSTALL,
      progress: options.progress,
    });
    return await toComponent(
      {
        binary: await readFile(module),
        wit: await readFile(join(wit, "tool.wit"), "utf8"),
        // What it does not use is left out of the component.
        world: "extended-tool",
        usesWasi: true,
        hint: "Is postern/postern.c there?",
      },
      await options.openToolchain(),
    );
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
