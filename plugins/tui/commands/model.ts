/** `/model` lists the models or chooses one for the open thread. */
import type { ModelOption } from "../../../kernel/kit.ts";
import { quoted } from "../text/markdown.ts";
import type { SlashCommand } from "./command.ts";

const MAX_LISTED = 20;

export const MODEL: SlashCommand = {
  about: "list the models, or choose one for this thread; /model default takes the configured one",
  takes: "[name]",
  complete: (rest, { modelNames }) => modelNames().filter((name) => name.startsWith(rest)),
  async run({ agent, conversation }, rest) {
    const { items, unlisted } = await agent.models();
    const { provider, name } = conversation.model ?? agent.model();
    if (rest === "") {
      const lines = items.slice(0, MAX_LISTED).map((each) => {
        const mark = each.provider === provider && each.name === name ? " ← this thread" : "";
        return `- ${quoted(fullName(each))}${each.role ? ` (${each.role})` : ""}${mark}`;
      });
      const more = items.length - lines.length;
      const notes = [
        ...(more > 0 ? [`*${more} more; Tab after /model completes their names.*`] : []),
        ...unlisted.map((each) => `*${quoted(each)} does not list its models.*`),
      ];
      return `**${quoted(name)}** (${quoted(provider)}) answers here.\n\n${lines.join("\n")}\n\n${notes.join("\n\n")}`;
    }
    if (rest === "default") {
      await conversation.setModel(undefined);
      return `**${quoted(agent.model().name)}**, the configured model, answers here from now on.`;
    }
    const matching = find(items, rest);
    const [chosen, ...others] = matching;
    if (chosen === undefined) return `There is no model ${quoted(rest)} here. /model lists them.`;
    if (others.length > 0)
      return `${quoted(rest)} matches ${matching
        .slice(0, MAX_LISTED)
        .map((each) => quoted(fullName(each)))
        .join(", ")}. Write more of the name.`;
    await conversation.setModel({ provider: chosen.provider, name: chosen.name });
    return `**${quoted(chosen.name)}** answers ${conversation.thread === undefined ? "in the thread that your next message starts" : "here from now on"}.`;
  },
};

const fullName = ({ provider, name }: ModelOption): string => `${provider}/${name}`;

/** Finds a model by its name, with or without its provider, or by a part of it that no other has. */
function find(items: readonly ModelOption[], wanted: string): readonly ModelOption[] {
  const exact = items.filter((each) => each.name === wanted || fullName(each) === wanted);
  // If several providers have it, the configured one comes first.
  if (exact.length > 0) return exact.slice(0, 1);
  const part = wanted.toLowerCase();
  return items.filter((each) => fullName(each).toLowerCase().includes(part));
}
