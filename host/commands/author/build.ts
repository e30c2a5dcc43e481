/** `tool build`: an author's project made into a component. */
import { relative, resolve } from "node:path";
import type { CommandContext } from "../../../kernel/plugin.ts";
import type { Engine } from "../../author/build/engines.ts";
import { openProject } from "../../author/project.ts";
import { type JsonOption, print, progress } from "../terminal/terminal.ts";

export async function build(
  { folder, home }: CommandContext,
  directory: string,
  options: JsonOption & { readonly engine: Engine },
): Promise<void> {
  const { engine } = options;
  const project = openProject(resolve(folder, directory));
  const [{ buildProject }, { openToolchain }] = await Promise.all([
    import("../../author/build/build.ts"),
    import("../../author/build/toolchain.ts"),
  ]);
  const { file, bytes, millis } = await buildProject(project, {
    engine,
    progress,
    openToolchain: () => openToolchain(home, progress),
  });
  const { language } = project;
  const made = { file, bytes, millis, language, engine: language === "rust" ? null : engine };
  print(options, made, () => `Built ${relative(folder, file)}`);
}
