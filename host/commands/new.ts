/** `tool new`: creates a project folder from the templates next to the WIT. */
import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import type { CommandContext } from "../../kernel/plugin.ts";
import { Fault } from "../../kernel/plugin.ts";
import { ENTRIES, type Language, WIT } from "../author/project.ts";
import { checkName } from "../catalog/install.ts";
import { type JsonOption, print } from "./terminal.ts";

/** How the templates call the tool, and its source. */
const TEMPLATE = { name: "my-tool", entry: ENTRIES.ts };

const TYPES = ["guest.d.ts", "globals.d.ts"];

/** What of the contract's folder an author of each language needs. */
const CONTRACT: Readonly<Record<Language, readonly string[]>> = {
  ts: ["tool.wit", ...TYPES],
  js: ["tool.wit", ...TYPES],
  rust: ["tool.wit", "rust.wit"],
};

export async function create(
  { folder }: CommandContext,
  directory: string,
  options: JsonOption & { readonly lang: Language },
): Promise<void> {
  const target = resolve(folder, directory);
  const name = basename(target);
  checkName(name);
  if (options.lang === "rust") checkCrateName(name);
  const files = await createProject(target, name, options.lang);
  const here = relative(folder, target) || ".";
  print(options, { folder: target, name, language: options.lang, files }, () =>
    [
      `Created ${here}: ${files.join(", ")}`,
      "",
      "Next:",
      `  postern tool build ${here}`,
      `  postern tool check ${here}`,
      `  postern tool dev ${here}        build and test it on every change`,
    ].join("\n"),
  );
}

async function createProject(target: string, name: string, language: Language): Promise<readonly string[]> {
  await mkdir(target, { recursive: true });
  if ((await readdir(target)).length > 0) {
    throw new Fault("invalid", "folder_not_empty", `${target} is not empty; choose a new folder`, {
      param: target,
    });
  }
  const templates = join(WIT, "templates");
  for (const part of ["shared", language]) await cp(join(templates, part), target, { recursive: true });
  // npm leaves a file of that name out of a package.
  await rename(join(target, "gitignore"), join(target, ".gitignore"));
  const wit = join(target, "wit");
  await mkdir(wit);
  for (const file of CONTRACT[language]) await cp(join(WIT, file), join(wit, file));
  await cp(join(WIT, "..", "capabilities", "schema.json"), join(wit, "capabilities.schema.json"));
  const files = (await readdir(target, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(target, join(entry.parentPath, entry.name)))
    .sort();
  for (const file of files.filter((path) => !path.startsWith("wit/"))) {
    const text = await readFile(join(target, file), "utf8");
    const named = text.replaceAll(TEMPLATE.name, name);
    const filled = file === "README.md" ? named.replaceAll(TEMPLATE.entry, ENTRIES[language]) : named;
    if (filled !== text) await writeFile(join(target, file), filled);
  }
  return files;
}

function checkCrateName(name: string): void {
  if (/^[A-Za-z_]/.test(name)) return;
  throw new Fault(
    "invalid",
    "crate_name",
    `cargo does not accept the crate name ${name}: start it with a letter`,
    {
      param: name,
    },
  );
}
