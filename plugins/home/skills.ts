/** Skills: folders with a SKILL.md. One that cannot be read is reported and left out. */
import { reason } from "../../kernel/plugin.ts";
import type { OperatorFiles } from "./files.ts";
import type { Skill, SkillProblem, Skills } from "./services.ts";

type Found = NonNullable<Awaited<ReturnType<Skills["read"]>>>;

const MAX_SKILLS = 100;
const MAX_DESCRIPTION_LENGTH = 300;
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
    for (const file of found.slice(0, MAX_SKILLS)) {
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
    if (found.length > MAX_SKILLS)
      problems.push({ folder: "…", why: `only the first ${MAX_SKILLS} are read` });
    return { skills: [...skills.values()], problems };
  }

  return {
    list: async () => (await find()).skills.map(({ name, description }): Skill => ({ name, description })),
    read: async (name) => (await find()).skills.find((one) => one.name === name),
    problems: async () => (await find()).problems,
  };
}

/** Front matter of `key: value` lines between two lines of dashes, then the text. */
function parseSkill(source: string, folder: string): Found {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(source);
  if (!match) throw new Error("its SKILL.md does not start with front matter (--- name, description ---)");
  const fields = readFields(match[1] ?? "");
  const name = fields.get("name") ?? folder;
  const description = fields.get("description") ?? "";
  const shown = JSON.stringify(name.slice(0, 80));
  if (!NAME.test(name)) throw new Error(`its name ${shown} may only contain letters, digits, - and _`);
  if (description === "") throw new Error("its front matter has no description");
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION_LENGTH),
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
  return /^(["'])(.*)\1$/.exec(text)?.[2] ?? text;
}
