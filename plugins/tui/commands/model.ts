/** `/model`: what answers in the open thread. */
import type { ModelOption, Services } from "../../../kernel/plugin.ts";
import { quoted } from "../screen/text/markdown.ts";
import type { SlashCommand } from "./command.ts";

const LISTED = 20;

export const MODEL: SlashCommand = {
  about: "list the models, or choose one for this thread; /model default takes the configured one",
  takes: "[name]",
  complete: (rest, { models }) => models.names().filter((name) => name.startsWith(rest)),
  async run({ agent, conversation }, rest) {
    const { items, unlisted } = await agent.models();
    const { provider, name } = conversation.model ?? agent.model();
    if (rest === "") {
      const lines = items.slice(0, LISTED).map((each) => {
        const mark = each.provider === provider && each.name === name ? " ← this thread" : "";
        return `- ${quoted(fullName(each))}${each.role ? ` (${each.role})` : ""}${mark}`;
      });
      const more = items.length - lines.length;
      const rest = [
        ...(more > 0 ? [`*${more} more; Tab after /model completes their names.*`] : []),
        ...unlisted.map((each) => `*${quoted(each)} does not say which models it has.*`),
      ];
      return `**${quoted(name)}** (${quoted(provider)}) answers here.\n\n${lines.join("\n")}\n\n${rest.join("\n\n")}`;
    }
    if (rest === "default") {
      await conversation.setModel(undefined);
      return `**${quoted(agent.model().name)}**, the configured model, answers here from now on.`;
    }
    const fitting = find(items, rest);
    const [chosen, ...others] = fitting;
    if (chosen === undefined) return `There is no model ${quoted(rest)} here. /model lists them.`;
    if (others.length > 0)
      return `${quoted(rest)} fits ${fitting
        .slice(0, LISTED)
        .map((each) => quoted(fullName(each)))
        .join(", ")}. Write more of the name.`;
    await conversation.setModel({ provider: chosen.provider, name: chosen.name });
    return `**${quoted(chosen.name)}** answers ${conversation.thread === undefined ? "in the thread that your next message starts" : "here from now on"}.`;
  },
};

const fullName = ({ provider, name }: ModelOption): string => `${provider}/${name}`;

/** By its name, with or without its provider, or by a part of it that no other has. */
function find(items: readonly ModelOption[], wanted: string): readonly ModelOption[] {
  const exact = items.filter((each) => each.name === wanted || fullName(each) === wanted);
  // Where several providers have it, the configured one comes first.
  if (exact.length > 0) return exact.slice(0, 1);
  const part = wanted.toLowerCase();
  return items.filter((each) => fullName(each).toLowerCase().includes(part));
}

/** Names to complete: known from the second time on, since servers are asked for them. */
export interface ModelNames {
  names(): readonly string[];
}

export function createModelNames(agent: Pick<Services["agent"], "models">): ModelNames {
  let known: readonly string[] = [];
  const read = async () => {
    known = (await agent.models()).items.map(({ name }) => name);
  };
  return {
    names() {
      // Those who cannot be asked are told so by the command itself.
      read().catch(() => {});
      return known;
    },
  };
}
