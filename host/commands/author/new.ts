/** `tool new`: creates a project folder from the templates next to the WIT. */
import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { makeFolders } from "../../../kernel/kit.ts";
import type { CommandContext } from "../../../kernel/plugin.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import { ENTRIES, type Language, WIT } from "../../author/project.ts";
import { checkName } from "../../catalog/install.ts";
import { type JsonOption, print } from "../terminal/terminal.ts";

/** The example that a new tool starts with; each has a folder among the templates. */
export const TEMPLATES = ["blank", "http", "auth"] as const;
type Template = (typeof TEMPLATES)[number];

/** How the templates call the tool, and its source. */
const PLACEHOLDER = { name: "my-tool", entry: ENTRIES.ts };

/** What the project's README says of it. */
const EXAMPLES: Readonly<Record<Template, { readonly about: string; readonly commands: string }>> = {
  blank: {
    about: "repeats a text, until you change it",
    commands: `postern tool run my-tool '{"text":"Hello"}' --record recordings/example.json`,
  },
  http: {
    about: "counts the days until a date, or until the next public holiday of a country",
    commands: `postern tool run my-tool '{"date":"2030-01-01"}' --record recordings/date.json`,
  },
  auth: {
    about: "lists your GitHub repositories with a token that it never sees",
    commands: `postern tool auth my-tool            # asks for the token
postern tool run my-tool '{"count":2}' --record recordings/repositories.json`,
  },
};

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
  options: JsonOption & { readonly lang: Language; readonly template: Template },
): Promise<void> {
  const { lang: language, template } = options;
  const target = resolve(folder, directory);
  const name = basename(target);
  checkName(name);
  if (language === "rust") checkCrateName(name);
  const files = await createProject(target, name, language, template);
  const here = relative(folder, target) || ".";
  print(options, { folder: target, name, language, template, files }, () =>
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

async function createProject(
  target: string,
  name: string,
  language: Language,
  template: Template,
): Promise<readonly string[]> {
  try {
    makeFolders(target);
  } catch (error) {
    throw new Fault("invalid", "folder_unusable", `${target} cannot be created: ${reason(error)}`, {
      param: target,
      cause: error,
    });
  }
  if ((await readdir(target)).length > 0) {
    throw new Fault("invalid", "folder_not_empty", `${target} is not empty; choose a new folder`, {
      param: target,
    });
  }
  const templates = join(WIT, "templates");
  for (const part of ["shared", language]) await cp(join(templates, part), target, { recursive: true });
  const entry = ENTRIES[language];
  const parts = {
    "capabilities.json": "capabilities.json",
    recordings: "recordings",
    [basename(entry)]: entry,
  };
  for (const [from, to] of Object.entries(parts))
    await cp(join(templates, template, from), join(target, to), { recursive: true });
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
  const { about, commands } = EXAMPLES[template];
  for (const file of files.filter((path) => !path.startsWith("wit/"))) {
    const text = await readFile(join(target, file), "utf8");
    const described =
      file === "README.md"
        ? text.replace("ABOUT", about).replace("EXAMPLE", commands).replaceAll(PLACEHOLDER.entry, entry)
        : text;
    const filled = described.replaceAll(PLACEHOLDER.name, name);
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
      usage: true,
    },
  );
}
