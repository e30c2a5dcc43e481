/** Skills as the model sees them: names, what they are for, and the rest on request. Others' words stay a stranger's. */
import { tryUtf8 } from "../../kernel/kit/text.ts";
import { trimEnd } from "../../kernel/kit/words.ts";
import type { JsonSchema, Services, ToolOutcome } from "../../kernel/plugin.ts";
import type { OwnOutcome, OwnTool, OwnToolContext, Preface } from "../agent/services.ts";
import type { ReadSkill, Skill } from "../home/services.ts";

type Skills = Services["skills"];
type Workspace = Services["workspace"];

const RUN_CODE = "run-code";
/** More than a model should read of one file at once. */
const MAX_READ_LENGTH = 64 * 1024;
const MAX_COPIED = 100;

const HEADING = "Skills: before doing what one of these describes, load it with skill_load and follow it.";

type Sections = Preface["sections"];

const KNOWN = new WeakMap<readonly Skill[], Sections>();

/** The sections of the prompt: the operator's own, and one for each skill from elsewhere, whose words it is. None where there are none. */
export async function skillSections(skills: Pick<Skills, "list">): Promise<Sections> {
  const found = await skills.list();
  const sections = KNOWN.get(found) ?? sectionsOf(found);
  KNOWN.set(found, sections);
  return sections;
}

function sectionsOf(found: readonly Skill[]): Sections {
  const lineOf = ({ name, description }: Skill) => `- ${name}: ${description.replace(/\s+/g, " ")}`;
  const own = found.filter(({ origin }) => origin === undefined);
  const others = found.filter(({ origin }) => origin !== undefined);
  const heading = found.length === 0 ? [] : [HEADING];
  return [
    { text: [...heading, ...own.map(lineOf)].join("\n"), isPersons: true },
    ...others.map((skill) => ({ text: lineOf(skill), origin: skill.origin })),
  ];
}

export function skillTools(skills: Skills, workspace: Workspace | undefined): readonly OwnTool[] {
  const tools = [loadTool(skills), runTool(skills), ...(workspace ? [copyTool(skills, workspace)] : [])];
  const isOffered = async () => (await skills.list()).length > 0;
  return tools.map((tool) => ({ ...tool, isOffered }));
}

export function loadTool(skills: Skills): OwnTool {
  return {
    name: "skill_load",
    effect: "repeatable",
    words: { did: "read_skill", object: ["{name}"] },
    description: "Loads the text of a skill by its name, or one of the files that it lists.",
    // A skill is there to be followed; memory and missions may hold what a page once said.
    isFollowed: true,
    schema: schemaOf({
      file: { type: "string", minLength: 1, description: "A file of the skill, such as references/forms.md" },
    }),
    async run(params, context) {
      const { name, file } = params as { name: string; file?: string };
      const skill = await follow(skills, name, context);
      if ("status" in skill) return skill;
      if (file !== undefined) return readText(skills, skill, file);
      const { text, files, origin } = skill;
      const listed = files.map(({ path, kind }) => `${path} (${kind})`);
      const output = JSON.stringify({ name: skill.name, text, ...(files.length > 0 && { files: listed }) });
      return { status: "ok", output, ...whose(origin) };
    },
  };
}

function runTool(skills: Skills): OwnTool {
  return {
    name: "skill_run",
    effect: "repeatable",
    words: { did: "ran_skill", object: ["{name}"], counts: ["charts", "files"] },
    description: `Runs a script of a skill (scripts/*.js or .ts) in the sandbox of ${RUN_CODE}, where files.read reads the skill's files below /skills/<name>.`,
    schema: schemaOf(
      {
        script: { type: "string", minLength: 1, description: "Such as scripts/report.js" },
        args: { type: "object", description: "What the script finds in the constant `args`" },
      },
      ["script"],
    ),
    async becomes(params, context) {
      const { name, script, args = {} } = params as { name: string; script: string; args?: object };
      const skill = await follow(skills, name, context);
      if ("status" in skill) return skill;
      const found = skill.files.find(({ path }) => path === script);
      if (found?.kind === "not runnable here")
        return failed("not_runnable", `${script} is not JavaScript or TypeScript, so it cannot be run here.`);
      if (found?.kind !== "script") return failed("no_script", noFile(skill, script));
      const files = new Map(
        await Promise.all(
          skill.files.map(
            async ({ path }) => [path, (await skills.file(skill.name, path)) ?? new Uint8Array()] as const,
          ),
        ),
      );
      const code = Buffer.from(files.get(script) ?? "").toString("utf8");
      const mounted = {
        folder: `/skills/${skill.name}`,
        files,
        origins: skill.origin === undefined ? [] : [skill.origin],
      };
      // On one line, so that the lines of an error are those of the script.
      return {
        tool: RUN_CODE,
        params: JSON.stringify({ code: `const args = ${JSON.stringify(args)}; ${code}` }),
        mounted,
      };
    },
    run: async () => failed("tool_failed", "It is run by another tool."),
  };
}

function copyTool(skills: Skills, workspace: Workspace): OwnTool {
  return {
    name: "skill_copy",
    effect: "writes",
    words: { did: "copied_skill", object: ["{name}"], counts: ["copied"] },
    description: "Copies a file of a skill, or a folder of them such as assets, into the workspace.",
    schema: schemaOf(
      {
        file: { type: "string", minLength: 1 },
        to: { type: "string", minLength: 1, description: "A folder of the workspace; / where it is absent" },
      },
      ["file"],
    ),
    async run(params, context) {
      const { name, file, to = "/" } = params as { name: string; file: string; to?: string };
      const skill = await follow(skills, name, context);
      if ("status" in skill) return skill;
      const wanted = trimEnd(file, "/");
      const found = skill.files.filter(({ path }) => path === wanted || path.startsWith(`${wanted}/`));
      if (found.length === 0) return failed("no_file", noFile(skill, file));
      if (found.length > MAX_COPIED)
        return failed(
          "too_many_files",
          `${file} has ${found.length} files; at most ${MAX_COPIED} are copied at once.`,
        );
      const above = wanted.slice(0, wanted.lastIndexOf("/") + 1);
      const edits = await Promise.all(
        found.map(async ({ path }) => ({
          op: "write" as const,
          path: `${trimEnd(to, "/")}/${path.slice(above.length)}`,
          data: (await skills.file(skill.name, path)) ?? new Uint8Array(),
          expected: 0,
        })),
      );
      const { user, channel, thread, turn } = context;
      const writer = { kind: "model", channel, thread, turn } as const;
      const written = await workspace.apply(user, edits, { writer, ...whose(skill.origin) });
      return { status: "ok", output: JSON.stringify({ copied: written.map(({ path }) => path) }) };
    },
  };
}

/** The skill that the turn follows from now on, with what that asks of it, or why it cannot. */
async function follow(
  skills: Skills,
  name: string,
  { require, narrow }: OwnToolContext,
): Promise<ReadSkill | ToolOutcome> {
  const skill = await skills.read(name);
  if (skill !== undefined) {
    require?.(skill.requiredTools);
    if (skill.allowedTools) narrow?.(skill.allowedTools);
    return skill;
  }
  const broken = (await skills.problems()).find(({ folder }) => folder === name);
  if (broken) return failed("bad_skill", `The skill ${name} cannot be used: ${broken.why}.`);
  const names = (await skills.list()).map((one) => one.name);
  return failed("no_skill", `There is no skill "${name}". There are: ${names.join(", ") || "none"}.`);
}

async function readText(skills: Skills, skill: ReadSkill, path: string): Promise<OwnOutcome> {
  const data = await skills.file(skill.name, path);
  if (data === undefined) return failed("no_file", noFile(skill, path));
  const text = tryUtf8(data);
  if (text === undefined)
    return failed("not_text", `${path} is not a text. Copy it into the workspace with skill_copy.`);
  if (text.length > MAX_READ_LENGTH)
    return failed(
      "too_long",
      `${path} has ${text.length} characters. Copy it into the workspace with skill_copy, and read parts of it there.`,
    );
  return {
    status: "ok",
    output: JSON.stringify({ name: skill.name, file: path, text }),
    ...whose(skill.origin),
  };
}

function whose(origin: ReadSkill["origin"]): Pick<OwnOutcome, "origins"> {
  return origin === undefined ? {} : { origins: [origin] };
}

function noFile({ name, files }: ReadSkill, path: string): string {
  return `The skill ${name} has no ${path}. It has: ${files.map((one) => one.path).join(", ") || "no other files"}.`;
}

function failed(code: string, message: string): Extract<ToolOutcome, { status: "error" }> {
  return { status: "error", code, message };
}

function schemaOf(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return {
    type: "object",
    properties: { name: { type: "string", minLength: 1, description: "Name of the skill" }, ...properties },
    required: ["name", ...required],
    additionalProperties: false,
  };
}
