/** Python and Go: each has a program that makes a component, in a world with exactly the imports that it is to have. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Capabilities } from "../../../capabilities/capabilities.ts";
import { readCapabilities } from "../../catalog/install.ts";
import type { Project } from "../project.ts";
import { type Compiler, runCompiler } from "./compiler.ts";
import { WORLD, writeWit } from "./world.ts";

interface ComponentizeOptions {
  readonly progress: (line: string) => void;
}

type Run = (run: Pick<Compiler, "program" | "args" | "mistake" | "howToInstall">) => Promise<void>;

const PYTHON = {
  program: "componentize-py",
  mistake: /^\s*File "(?:\/\d+\/)?(?<file>[^"]+\.py)", line (?<line>\d+)(?<message>.*)$/,
  howToInstall: "Install it with Python 3.10 or later: pip install componentize-py==0.25.0",
};

const GO = {
  program: "componentize-go",
  mistake: /^(?:\.\/)?(?<file>[^\s:]+\.go):(?<line>\d+):(?<column>\d+): (?<message>.*)$/,
  howToInstall:
    "Install Go 1.25 or later from https://go.dev/dl and componentize-go 0.3.4 from https://github.com/bytecodealliance/componentize-go/releases",
};

export function buildPython(project: Project, options: ComponentizeOptions): Promise<Uint8Array> {
  return componentizeIn(project, options, async (run, wit, made) => {
    const args = ["-d", wit, "-w", WORLD, "componentize", "tool", "-p", ".", "-o", made];
    await run({ ...PYTHON, args });
  });
}

export function buildGo(project: Project, options: ComponentizeOptions): Promise<Uint8Array> {
  const modules = join(project.folder, "go.mod");
  return componentizeIn(project, options, async (run, wit, made) => {
    // Generating the bindings writes it anew, without the packages that the author has added.
    const own = existsSync(modules) ? await readFile(modules) : undefined;
    const world = ["-d", wit, "-w", WORLD];
    try {
      await run({ ...GO, args: [...world, "bindings", "--format"] });
    } finally {
      if (own !== undefined) await writeFile(modules, own);
    }
    await run({ ...GO, program: "go", args: ["mod", "tidy"] });
    await run({ ...GO, args: [...world, "build", "-o", made] });
  });
}

async function componentizeIn(
  project: Project,
  { progress }: ComponentizeOptions,
  make: (run: Run, wit: string, made: string) => Promise<void>,
): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "postern-build-"));
  try {
    const wit = join(folder, "wit");
    await mkdir(wit);
    const contract = await readFile(join(project.wit, "tool.wit"), "utf8");
    await writeFile(join(wit, "tool.wit"), writeWit(contract, await interfacesOf(project)));
    const made = join(folder, "tool.wasm");
    await make((run) => runCompiler({ ...run, cwd: project.folder, progress }), wit, made);
    return await readFile(made);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A component with an import that its capabilities file does not ask for would be refused. */
async function interfacesOf({ capabilities }: Project): Promise<readonly string[]> {
  if (!existsSync(capabilities)) return [];
  const { http, settings, state }: Capabilities = readCapabilities(await readFile(capabilities, "utf8"));
  return [
    ...(http === undefined ? [] : ["exchange"]),
    ...(settings.length === 0 ? [] : ["setting"]),
    ...(state === undefined ? [] : ["state"]),
  ];
}
