/** The built-in model's answers about itself and about the tools it has. */
import { typedCommand } from "../../../kernel/kit/terminal.ts";
import { isAgentsName, ROUTINE_PROPOSE } from "../../../kernel/kit/tools.ts";
import { listing, sayName } from "../../../kernel/kit/words.ts";
import type { ModelTool } from "../services.ts";
import type { Property } from "./schema.ts";

const realModel = () =>
  `To use a language model, choose one on the page, run \`${typedCommand()} setup\`, or set \`ANTHROPIC_API_KEY\`, \`OPENAI_API_KEY\` or \`MODEL_PROVIDER\`.`;
const WHAT_I_AM =
  "I am the built-in model: a small program in this service, not a language model. I work offline and need no key.";
export const unreadFiles = () => `${WHAT_I_AM} I cannot read what you attached. ${realModel()}`;
export const identity = () =>
  `${WHAT_I_AM} I match what you write to a tool, ask for what is missing and show the result.\n\n${realModel()}`;
export const WHEN = 'When? Say "remind me at 18:00 to call Ann", or "every Monday at 9:00 check the news".';
/** Every question of the built-in model contains this. */
export const STILL_NEED = "I still need";

/** The agent's own tools are shown by what they do rather than by name. */
const isInstalled = ({ name }: ModelTool) => !isAgentsName(name);

export function greeting(tools: readonly ModelTool[]): string {
  const names = tools.filter(isInstalled).map(({ name }) => sayName(name));
  const offer = names.length > 0 ? `use ${listing(names.slice(0, 3))}` : "run the tools you install";
  return `Hello! I am the built-in model, not a language model. I can ${offer}, remember things for you and do sums. Ask "What can you do?" for more.`;
}

/** Abilities of the agent besides its installed tools, by the tool that each needs. */
const OWN: readonly (readonly [string, string])[] = [
  ["memory_write", '**Memory**: "remember that my bike is red", "what colour is my bike?", "forget my bike"'],
  [ROUTINE_PROPOSE, '**Routines**: "remind me at 18:00 to call Ann", "every Monday at 9:00 check the news"'],
  ["mission_create", '**Missions**: "create a mission to learn Spanish", "list my missions"'],
  ["skill_load", '**Skills**: "load the soup skill" shows what a skill says'],
];

export function help(tools: readonly ModelTool[]): string {
  const installed = tools
    .filter(isInstalled)
    .map(({ name, description }) => `**${name}**${description && `: ${firstSentence(description)}`}`);
  const lines = [
    ...(installed.length > 0 ? installed : [`\`${typedCommand()} tool install\` adds a tool`]),
    ...OWN.flatMap(([name, line]) => (tools.some((tool) => tool.name === name) ? line : [])),
    '**Sums, dates and the clock**: "12 * (3 + 4)", "days until Christmas", "what time is it?"',
  ];
  const list = lines.map((line) => `- ${line}`).join("\n");
  return `${WHAT_I_AM} I can do this:\n\n${list}\n\nI cannot chat, write or reason. ${realModel()}`;
}

export function askFor(tool: ModelTool, { name, type, description, choices, least, most }: Property): string {
  const about = choices.length > 0 ? listing(choices.slice(0, 12), "or") : firstSentence(description);
  const hasRange = type !== "string" && Number.isFinite(least) && Number.isFinite(most);
  const hints = [about.charAt(0).toLowerCase() + about.slice(1), hasRange ? `${least} to ${most}` : ""];
  const hint = hints.filter(Boolean).join(", ");
  return `I can use **${tool.name}** for that. ${STILL_NEED} **${sayName(name)}**${hint && `: ${hint}`}.`;
}

export function noMatch(tools: readonly ModelTool[]): string {
  const names = tools.filter(isInstalled).map(({ name }) => `**${name}**`);
  const offer = names.length > 0 ? `I have ${listing(names.slice(0, 8))}` : "No tool is installed";
  return `None of my tools fits that, and as the built-in model I cannot answer it myself. ${offer}. To save a fact, say "remember that …". "What can you do?" shows more, and how to use a language model.`;
}

export const clip = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

function firstSentence(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return clip(line.slice(0, 500).split(/(?<=[.!?])\s/u)[0] ?? "", 160).replace(/\.$/, "");
}
