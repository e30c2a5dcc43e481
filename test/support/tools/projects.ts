/** Authors' projects in temporary folders, as `tool new` makes them. */

import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildProject } from "../../../host/author/build/build.ts";
import type { Engine } from "../../../host/author/build/engines.ts";
import { installedToolchain } from "../../../host/author/build/toolchain.ts";
import { type Language, openProject } from "../../../host/author/project.ts";
import { BIN } from "../clone.ts";
import { temporaryFolder } from "../home.ts";
import { postern } from "../processes/postern.ts";
import { builderInputs, kept } from "./kept.ts";

/** Answers the folder of a new project called `countdown`, whatever the template makes it do. */
export async function newProject(
  lang: Language = "ts",
  template: "blank" | "http" | "auth" = "http",
): Promise<string> {
  const cwd = temporaryFolder();
  const { code, stderr } = await postern(
    ["tool", "new", "countdown", "--lang", lang, "--template", template],
    {
      cwd,
      env: { POSTERN_HOME: join(cwd, "home") },
    },
  );
  if (code !== 0) throw new Error(stderr);
  return join(cwd, "countdown");
}

/** Returns the component of a project, built once. The bundler leaves a process running, which the test's file must stop. */
export async function buildOnce(folder: string, engine: Engine): Promise<string> {
  const project = openProject(folder);
  const files = globSync("**", { cwd: folder, withFileTypes: true, exclude: ({ name }) => name === "dist" })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
  const inputs = files.flatMap((file) => [file.slice(folder.length), readFileSync(file)]);
  const component = await kept(
    `${project.name}-${engine}`,
    [engine, ...inputs, ...builderInputs()],
    async () => {
      const options = { engine, progress: () => {}, openToolchain: async () => installedToolchain() };
      return readFileSync((await buildProject(project, options)).file);
    },
  );
  mkdirSync(dirname(project.component), { recursive: true });
  writeFileSync(project.component, component);
  return project.component;
}

/** A PATH on which `postern` and the pinned Node are found first, as after `npm install`; then what is in `next`. */
export function pathWithPostern(folder = temporaryFolder(), ...next: readonly string[]): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(BIN, join(bin, "postern"));
  symlinkSync(process.execPath, join(bin, "node"));
  return [bin, ...next, process.env["PATH"]].join(":");
}

/** Has a project's capabilities file ask for a setting and for state, as its code does. */
export function askForSettingAndState(folder: string): void {
  const file = join(folder, "capabilities.json");
  const settings = [{ name: "greeting", description: "How people are greeted.", format: "text" }];
  const declared = { ...JSON.parse(readFileSync(file, "utf8")), settings, state: {} };
  writeFileSync(file, JSON.stringify(declared));
}
