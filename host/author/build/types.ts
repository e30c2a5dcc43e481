/** Type checking by the TypeScript compiler: the project's own where it has one, else the toolchain's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Fault } from "../../../kernel/plugin.ts";
import { insteadOfModule, insteadOfName } from "../../calls/missing-names.ts";
import { type Project, WIT } from "../project.ts";
import { buildFault, type Mistake } from "./mistakes.ts";
import type { Toolchain } from "./toolchain.ts";

/** A project without tsconfig.json has chosen not to have its types checked. */
export async function checkTypes(project: Project, toolchain: Toolchain): Promise<void> {
  if (!hasTypes(project)) return;
  const { code, said, complaint } = await compile(project, toolchain, ["--project", configOf(project)]);
  if (code === 0) return;
  const mistakes = parseMistakes(said);
  if (mistakes.length > 0) throw buildFault(mistakes);
  throw new Fault("invalid", "build_failed", `types could not be checked: ${said}${complaint}`.trim());
}

/** Names that no tool has, in the sources of a project whose types are not checked. A guard may make them harmless. */
export async function findMissingNames(project: Project, toolchain: Toolchain): Promise<readonly Mistake[]> {
  if (hasTypes(project)) return [];
  const { said } = await compile(project, toolchain, [
    ...["--allowJs", "--checkJs", "--skipLibCheck", "--allowImportingTsExtensions"],
    ...["--target", "es2023", "--lib", "es2023", "--module", "esnext", "--moduleResolution", "bundler"],
    ...[project.entry, join(WIT, "globals.d.ts"), join(WIT, "guest.d.ts")],
  ]);
  return parseMistakes(said).filter(({ message }) => {
    const [, name = ""] = MISSING_NAME.exec(message) ?? [];
    return insteadOfName(name) !== undefined;
  });
}

const MISSING_NAME = /^Cannot find name '([^']+)'/;

const configOf = ({ folder }: Project) => join(folder, "tsconfig.json");
const hasTypes = (project: Project) => existsSync(configOf(project));

// Ours, never the project's own: building somebody's tool must not run what lies in its node_modules.
async function compile({ folder }: Project, { compiler }: Toolchain, args: readonly string[]) {
  const child = spawn(process.execPath, [compiler, ...args, "--noEmit", "--pretty", "false"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const [said, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, said, complaint };
}

const PLACED = /^(.+?)\((\d+),(\d+)\): error TS\d+: (.*)$/;
const UNPLACED = /^error TS\d+: (.*)$/;

function parseMistakes(said: string): Mistake[] {
  const mistakes: Mistake[] = [];
  for (const line of said.split("\n")) {
    const [, file, row, column, message] = PLACED.exec(line) ?? [];
    const [, general] = UNPLACED.exec(line) ?? [];
    const last = mistakes.at(-1);
    if (file !== undefined && message !== undefined)
      mistakes.push({ file, line: Number(row), column: Number(column), message: instead(message) });
    else if (general !== undefined)
      mistakes.push({ file: "tsconfig.json", line: 0, column: 0, message: general });
    // An explanation that goes on is indented below its mistake.
    else if (last !== undefined && line.startsWith("  "))
      mistakes[mistakes.length - 1] = { ...last, message: `${last.message}\n    ${line.trim()}` };
  }
  return mistakes;
}

/** The compiler would have Node's types installed; what a tool has instead helps more. */
function instead(message: string): string {
  const [missing, kind, name = ""] = /^Cannot find (name|module) '([^']+)'/.exec(message) ?? [];
  const advice = kind === "module" ? insteadOfModule(name) : insteadOfName(name);
  return advice === undefined ? message : `${missing}: ${advice}`;
}
