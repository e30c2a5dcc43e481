/** `tool new`: creates a project folder from the templates next to the WIT. */
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { makeFolders } from "../../../kernel/kit/files.ts";
import type { JsonOption } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, reason } from "../../../kernel/plugin.ts";
import { ENTRIES, type Language, type TEMPLATES, WIT } from "../../author/project.ts";
import { checkName } from "../../catalog/install.ts";
import { print } from "../terminal/terminal.ts";

type Template = (typeof TEMPLATES)[number];

const PLACEHOLDER = { name: "my-tool", entry: ENTRIES.ts };

interface Example {
  readonly about: string;
  readonly params: string;
  readonly recording: string;
  /** True where a credential has to be given before the first call. */
  readonly authenticates?: boolean;
}

const EXAMPLES: Readonly<Record<Template, Example>> = {
  blank: {
    about: "repeats a text, until you change it",
    params: '{"text":"Hello"}',
    recording: "example",
  },
  http: {
    about: "counts the days until a date, or until the next public holiday of a country",
    params: '{"date":"2030-01-01"}',
    recording: "date",
  },
  auth: {
    about: "lists your GitHub repositories with a token that it never sees",
    params: '{"count":2}',
    recording: "repositories",
    authenticates: true,
  },
};

const AUTH = "postern tool auth my-tool            # asks for the token\n";

const TYPES = ["guest.d.ts", "globals.d.ts"];

/** CPython and what it has imported need more than the 64 MiB that a tool has otherwise. */
const PYTHON_MEMORY_MB = 256;

const CONTRACT: Readonly<Record<Language, readonly string[]>> = {
  ts: ["tool.wit", ...TYPES],
  js: ["tool.wit", ...TYPES],
  rust: ["tool.wit", "rust.wit"],
  c: ["tool.wit"],
  python: ["tool.wit"],
  go: ["tool.wit"],
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
  const { params, authenticates } = EXAMPLES[template];
  print(options, { folder: target, name, language, template, files }, () =>
    [
      `Created ${here}: ${files.join(", ")}`,
      "",
      "Next:",
      `  postern tool build ${here}`,
      `  postern tool check ${here}`,
      `  postern tool install ./${here}`,
      ...(authenticates ? [`  postern tool auth ${name}`] : []),
      `  postern tool run ${name} '${params}'`,
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
  if ((await readdir(target)).length > 0)
    throw new Fault("invalid", "folder_not_empty", `${target} is not empty; choose a new folder`, {
      param: target,
    });
  const templates = join(WIT, "templates");
  for (const part of ["shared", language].map((name) => join(templates, name)))
    if (existsSync(part)) await cp(part, target, { recursive: true });
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
  const { about, params, recording, authenticates } = EXAMPLES[template];
  const run = `postern tool run my-tool '${params}' --record recordings/${recording}.json`;
  const commands = authenticates ? AUTH + run : run;
  for (const file of files.filter((path) => !path.startsWith("wit/"))) {
    const text = await readFile(join(target, file), "utf8");
    const described =
      file === "README.md"
        ? text.replace("ABOUT", about).replace("EXAMPLE", commands).replaceAll(PLACEHOLDER.entry, entry)
        : text;
    const limited =
      language === "python" && file === "capabilities.json"
        ? described.replace(/\n\}\n$/, `,\n  "limits": { "memory_mb": ${PYTHON_MEMORY_MB} }\n}\n`)
        : described;
    const filled = limited.replaceAll(PLACEHOLDER.name, name);
    if (filled !== text) await writeFile(join(target, file), filled);
  }
  return files;
}

function checkCrateName(name: string): void {
  if (/^[A-Za-z_]/.test(name)) return;
  const message = `cargo does not accept the crate name ${name}: start it with a letter`;
  throw new Fault("invalid", "crate_name", message, { param: name, usage: true });
}
