/** The operator's skills as the model sees them: it is told their names, and loads a text when it needs it. */
import type { Services } from "../../kernel/plugin.ts";
import type { OwnTool } from "../agent/services.ts";

type Skills = Services["skills"];

/** The section of the prompt; empty where there are none. */
export async function skillPrompt(skills: Pick<Skills, "list">): Promise<string> {
  const found = await skills.list();
  if (found.length === 0) return "";
  const lines = found.map(({ name, description }) => `- ${name}: ${description}`);
  return `Skills: before doing what one of these describes, load it with skill_load and follow it.\n${lines.join("\n")}`;
}

export function skillTool(skills: Skills): OwnTool {
  return {
    name: "skill_load",
    description: "Loads the text of a skill by its name.",
    // A skill is there to be followed; memory and missions may hold what a page once said.
    isFollowed: true,
    schema: {
      type: "object",
      properties: { name: { type: "string", minLength: 1, description: "Name of the skill" } },
      required: ["name"],
      additionalProperties: false,
    },
    async run(params, { require }) {
      const { name } = params as { name: string };
      const names = (await skills.list()).map((skill) => skill.name);
      const meant = names.find((one) => one.toLowerCase() === name.trim().toLowerCase());
      const skill = (await skills.read(name)) ?? (meant && (await skills.read(meant)));
      if (skill) {
        require?.(skill.requiredTools);
        return { status: "ok", output: JSON.stringify({ name: skill.name, text: skill.text }) };
      }
      const broken = (await skills.problems()).find(({ folder }) => folder === name);
      const message = broken
        ? `The skill ${name} cannot be used: ${broken.why}.`
        : `There is no skill "${name}". There are: ${names.join(", ") || "none"}.`;
      return { status: "error", code: broken ? "bad_skill" : "no_skill", message };
    },
  };
}
