/** `tool build`: an author's project made into a component. */

import { relative, resolve } from "node:path";
import { type JsonOption, waitFor } from "../../../kernel/kit/terminal.ts";
import type { CommandContext } from "../../../kernel/plugin.ts";
import type { Engine } from "../../author/build/engines.ts";
import { isScript, openProject, type Project } from "../../author/project.ts";
import { codeFolder } from "../../catalog/code-cache.ts";
import { print, progress } from "../terminal/terminal.ts";

export async function build(
  context: CommandContext,
  directory: string,
  options: JsonOption & { readonly engine: Engine },
): Promise<void> {
  const { engine } = options;
  const { folder } = context;
  const project = openProject(resolve(folder, directory));
  const { file, bytes, millis, isNew } = await waitFor(`building ${project.name}`, options, async () => {
    const built = await buildWith(engine, project, context);
    if (built.isNew) {
      const { examineBuilt } = await import("../../author/build/examine.ts");
      await examineBuilt(project, { codeFolder: codeFolder(context.home), progress });
    }
    return built;
  });
  const { language } = project;
  const made = { file, bytes, millis, language, engine: isScript(language) ? engine : null, is_new: isNew };
  print(options, made, () => `${isNew ? "Built" : "Already built:"} ${relative(folder, file)}`);
}

export async function buildWith(engine: Engine, project: Project, context: CommandContext) {
  const [{ buildProject }, { openToolchain }] = await Promise.all([
    import("../../author/build/build.ts"),
    import("../../author/build/toolchain.ts"),
  ]);
  const caches = context.settingsOf("tools", (env) =>
    env.text("XDG_CACHE_HOME", undefined, "The folder of your caches; default: ~/.cache"),
  );
  const places = { home: context.home, caches };
  return buildProject(project, { engine, progress, openToolchain: () => openToolchain(places, progress) });
}
