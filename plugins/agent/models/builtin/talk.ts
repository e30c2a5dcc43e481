/** What the built-in model says about itself and about the tools it has. */
import type { ModelTool } from "../model.ts";
import { branchesOf, type Property, textOf } from "./schema.ts";
import { listing, sayName } from "./words.ts";

const REAL_MODEL =
  "To talk to a language model instead, set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, or point `MODEL_PROVIDER`, " +
  "`MODEL_BASE_URL`, `MODEL_NAME` and `MODEL_API_KEY` at any OpenAI-compatible or Ollama server, and start me again.";

const WHAT_I_AM =
  "I am the built-in model: a small program inside this service, not a language model. I work offline, without a key, " +
  "and the same words always get the same answer.";

/** The agent's own tools, shown by what they do rather than by name. */
const OWN = /^(?:memory|mission|skill)_/;

export function greeting(tools: readonly ModelTool[]): string {
  const others = tools.filter((tool) => !OWN.test(tool.name));
  const offer =
    others.length > 0
      ? `use ${listing(others.slice(0, 3).map((tool) => sayName(tool.name)))}`
      : "run the tools you install";
  return `Hello! I am the built-in model, and I can ${offer}, remember what you tell me, and work out sums. Ask "What can you do?" for more.`;
}

export function help(tools: readonly ModelTool[]): string {
  const parts = [`${WHAT_I_AM} This is what I can do:`];
  const lines = tools.filter((tool) => !OWN.test(tool.name)).map(line);
  if (lines.length === 0) lines.push("- **Tools**: none is installed yet; `postern tool install` adds one.");
  if (has(tools, "memory_write"))
    lines.push('- **Remember**: "remember that my bike is red", later "what colour is my bike?"');
  if (has(tools, "mission_create"))
    lines.push('- **Missions**: "create a mission to learn Spanish", "list my missions"');
  if (has(tools, "skill_load")) lines.push('- **Skills**: "load the skill …" shows what a skill says');
  lines.push('- **Sums and the clock**: "12 * (3 + 4)", "what time is it?"');
  parts.push(lines.join("\n"), `I cannot hold a free conversation, write texts or reason. ${REAL_MODEL}`);
  return parts.join("\n\n");
}

export function identity(): string {
  return `${WHAT_I_AM} I match what you write to a tool, fill in what it needs, ask for what is missing and tell you what came of it.\n\n${REAL_MODEL}`;
}

export function toolList(tools: readonly ModelTool[]): string {
  if (tools.length === 0) return "I have no tools right now. `postern tool install` adds one.";
  return `I have ${tools.length === 1 ? "one tool" : `${tools.length} tools`}:\n\n${tools.map(line).join("\n")}`;
}

/** The skills are named in the system text, where every model reads them. */
export function skillList(system: string): string {
  const lines = /^Skills: .*\n((?:- .+(?:\n|$))+)/mu.exec(system)?.[1]?.trim();
  if (lines === undefined)
    return "There are no skills. A folder with a `SKILL.md` in `skills` in the home adds one.";
  return `There are these skills; "load the skill …" shows one:\n\n${lines}`;
}

function line(tool: ModelTool): string {
  const about = firstSentence(tool.description);
  return about === "" ? `- **${tool.name}**` : `- **${tool.name}**: ${about}`;
}

export function describe(tool: ModelTool): string {
  const shapes = branchesOf(tool.schema).map((branch) => {
    const fixed = Object.values(branch.fixed).map((value) => `\`${String(value)}\``);
    const needs = branch.properties.filter((property) => property.required).map(nameProperty);
    const takes = branch.properties.filter((property) => !property.required).map(nameProperty);
    const wants = [
      ...(needs.length > 0 ? [`needs ${listing(needs)}`] : ["needs nothing"]),
      ...(takes.length > 0 ? [`may take ${listing(takes)}`] : []),
    ].join("; ");
    return fixed.length > 0 ? `- ${listing(fixed)}: ${wants}` : `- It ${wants}`;
  });
  const about = tool.description.trim();
  return `**${tool.name}**${about === "" ? "" : `: ${about}`}\n\n${shapes.join("\n")}`;
}

function nameProperty(property: Property): string {
  return `\`${property.name}\``;
}

/** Asks for what is missing, with what the schema says about it. */
export function askFor(tool: ModelTool, missing: readonly Property[], problems: readonly string[]): string {
  const wrong = problems.length > 0 ? `That does not fit: ${problems.map(plainly).join("; ")}.\n\n` : "";
  const [only] = missing;
  if (only && missing.length === 1) {
    return `${wrong}I can use **${tool.name}** for that. Please tell me the **${sayName(only.name)}**${hint(only)}.`;
  }
  const lines = missing.map((property) => `- **${sayName(property.name)}**${hint(property)}`);
  return `${wrong}I can use **${tool.name}** for that. I still need:\n\n${lines.join("\n")}`;
}

function plainly(problem: string): string {
  return problem.replace(/^([\w-]+) /, "`$1` ");
}

function hint(property: Property): string {
  const values = property.schema["enum"];
  if (Array.isArray(values)) return ` (${listing(values.slice(0, 12).map(String), "or")})`;
  const parts = [firstSentence(textOf(property.schema["description"])).replace(/\.$/, "")].filter(Boolean);
  const { minimum, maximum } = property.schema;
  if (typeof minimum === "number" && typeof maximum === "number") parts.push(`${minimum} to ${maximum}`);
  return parts.length > 0 ? ` (${parts.join("; ")})` : "";
}

export function askWhich(names: readonly string[]): string {
  return `More than one tool fits: ${listing(
    names.map((name) => `**${name}**`),
    "or",
  )}. Which do you mean?`;
}

/** Nothing fits: said plainly, with what would. */
export function lost(tools: readonly ModelTool[]): string {
  const others = tools.filter((tool) => !OWN.test(tool.name));
  const offer =
    others.length > 0
      ? `${others.length === 1 ? "My tool is" : "My tools are"} ${listing(others.slice(0, 8).map((tool) => `**${tool.name}**`))}`
      : "No tool is installed";
  return (
    "I am the built-in model, and none of my tools fits that. I do not make things up, so I have no answer. " +
    `${offer}; I can also remember things for you. "What can you do?" tells more.\n\n${REAL_MODEL}`
  );
}

export function unsure(tool: ModelTool, problems: readonly string[]): string {
  return (
    `I would use **${tool.name}** for that, but I cannot work out its parameters` +
    `${problems.length > 0 ? ` (${problems.slice(0, 3).map(plainly).join("; ")})` : ""}. ` +
    `You can write them out: \`${tool.name} {…}\` with the parameters as JSON.\n\n${describe(tool)}`
  );
}

function firstSentence(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  const sentence = /^.*?[.!?](?=\s|$)/u.exec(line)?.[0] ?? line;
  return sentence.length > 160 ? `${sentence.slice(0, 157)}…` : sentence;
}

function has(tools: readonly ModelTool[], name: string): boolean {
  return tools.some((tool) => tool.name === name);
}
