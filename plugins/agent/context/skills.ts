/**
 * Skills: folders with a SKILL.md. The model is told their names; the text is loaded when it asks.
 * A skill that cannot be read is reported and left out.
 */
import { reason, type Skill, type ToolOutcome } from "../../../kernel/plugin.ts";
import type { OwnTool } from "../turn/own-tool.ts";
import type { OperatorFiles } from "./files/files.ts";

export interface SkillProblem {
  readonly folder: string;
  readonly why: string;
}

export interface Skills {
  readonly tools: readonly OwnTool[];
  /** Lists the skills there are now: folders may come and go while the service runs. */
  list(): Promise<{ readonly skills: readonly Skill[]; readonly problems: readonly SkillProblem[] }>;
  read(name: string): Promise<(Skill & { readonly text: string }) | undefined>;
  /** The section of the prompt; empty where there are none. */
  prompt(): Promise<string>;
}

interface Found extends Skill {
  readonly text: string;
  /** A turn that has loaded the skill fails where the last call of one of these did. */
  readonly requiredTools: readonly string[];
}

const MOST_SKILLS = 100;
const LONGEST_DESCRIPTION = 300;
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

export function createSkills(files: Pick<OperatorFiles, "skills">): Skills {
  // The prompt names them every turn: only a text that changed is parsed again.
  const parsed = new Map<string, { readonly text: string; readonly skill: Found }>();

  function parse(folder: string, text: string): Found {
    const known = parsed.get(folder);
    if (known?.text === text) return known.skill;
    const skill = parseSkill(text, folder);
    parsed.set(folder, { text, skill });
    return skill;
  }

  async function find(): Promise<{ skills: readonly Found[]; problems: readonly SkillProblem[] }> {
    const skills = new Map<string, Found>();
    const problems: SkillProblem[] = [];
    const found = await files.skills();
    for (const file of found.slice(0, MOST_SKILLS)) {
      const { folder } = file;
      try {
        if ("why" in file) throw new Error(file.why);
        const skill = parse(folder, file.text);
        if (skills.has(skill.name)) throw new Error(`another folder has a skill named ${skill.name}`);
        skills.set(skill.name, skill);
      } catch (error) {
        problems.push({ folder, why: reason(error) });
      }
    }
    if (found.length > MOST_SKILLS)
      problems.push({ folder: "…", why: `only the first ${MOST_SKILLS} are read` });
    return { skills: [...skills.values()], problems };
  }

  return {
    async list() {
      const { skills, problems } = await find();
      return { skills: skills.map(({ name, description }) => ({ name, description })), problems };
    },
    async read(name) {
      const skill = (await find()).skills.find((one) => one.name === name);
      return skill && { name, description: skill.description, text: skill.text };
    },
    async prompt() {
      const { skills } = await find();
      if (skills.length === 0) return "";
      const lines = skills.map(({ name, description }) => `- ${name}: ${description}`);
      return `Skills: before doing what one of these describes, load it with skill_load and follow it.\n${lines.join("\n")}`;
    },
    tools: [
      {
        name: "skill_load",
        description: "Loads the text of a skill by its name.",
        schema: {
          type: "object",
          properties: { name: { type: "string", minLength: 1, description: "Name of the skill" } },
          required: ["name"],
          additionalProperties: false,
        },
        async run(params, { require }): Promise<ToolOutcome> {
          const { name } = params as { name: string };
          const { skills, problems } = await find();
          const skill =
            skills.find((one) => one.name === name) ??
            skills.find((one) => one.name.toLowerCase() === name.trim().toLowerCase());
          if (skill) {
            require?.(skill.requiredTools);
            return { status: "ok", output: JSON.stringify({ name: skill.name, text: skill.text }) };
          }
          const broken = problems.find(({ folder }) => folder === name);
          const names = skills.map((one) => one.name).join(", ");
          const message = broken
            ? `The skill ${name} cannot be used: ${broken.why}.`
            : `There is no skill "${name}". There are: ${names || "none"}.`;
          return { status: "error", code: broken ? "bad_skill" : "no_skill", message };
        },
      },
    ],
  };
}

/** Front matter of `key: value` lines between two lines of dashes, then the text. */
function parseSkill(source: string, folder: string): Found {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(source);
  if (!match) throw new Error("its SKILL.md does not start with front matter (--- name, description ---)");
  const fields = readFields(match[1] ?? "");
  const name = fields.get("name") ?? folder;
  const description = fields.get("description") ?? "";
  if (!NAME.test(name))
    throw new Error(
      `its name ${JSON.stringify(name.slice(0, 80))} may only contain letters, digits, - and _`,
    );
  if (description === "") throw new Error("its front matter has no description");
  return {
    name,
    description: description.slice(0, LONGEST_DESCRIPTION),
    text: (match[2] ?? "").trim(),
    requiredTools: namesIn(fields.get("required_tools") ?? ""),
  };
}

/** `a, b`, `[a, b]`, or a line with a dash for each. */
function namesIn(list: string): readonly string[] {
  return list
    .replace(/^\[|\]$/g, "")
    .split(/,|(?:^|\s)-\s/)
    .map((name) => unquote(name.trim()))
    .filter((name) => name !== "");
}

function readFields(matter: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let key = "";
  for (const line of matter.split(/\r?\n/)) {
    const field = /^([A-Za-z][\w-]*)\s*:\s*(.*)$/.exec(line);
    if (field) {
      key = (field[1] ?? "").toLowerCase();
      // A value that is folded begins on the next line.
      fields.set(key, unquote((field[2] ?? "").trim().replace(/^[>|][+-]?$/, "")));
    } else if (key !== "" && /^(?:\s+\S|-\s)/.test(line)) {
      fields.set(key, `${fields.get(key) ?? ""} ${line.trim()}`.trim());
    }
  }
  return fields;
}

function unquote(text: string): string {
  return (
    /^"(.*)"$|^'(.*)'$/
      .exec(text)
      ?.slice(1)
      .find((inner) => inner !== undefined) ?? text
  );
}
