/**
 * What changes while a thread continues: the day, the user's memory and missions. Each is told with the first message after it has changed,
 * and again once that message was summarised. Nothing before the history changes, so providers can cache it: the system text says the day of
 * the first turn.
 */
import { redact } from "../../../kernel/kit/secrets.ts";
import { estimateText } from "../../../kernel/kit/turns.ts";
import type { Mask } from "../../../kernel/plugin.ts";
import type { RenderedMessage } from "./tokens.ts";
import { renderBlock } from "./turns/messages.ts";

/** Texts by their topics; an empty one takes back what was told before. */
export type News = Readonly<Record<string, string>>;

export interface TellingTurn {
  readonly messages: readonly RenderedMessage[];
  /** When it was opened (UTC). */
  readonly day: string;
  readonly news: News | undefined;
}

export const dayOf = (time: string): string => time.slice(0, 10);

/** Returns those of the topics that these turns have not told as they are now. */
export function newsSince(turns: readonly TellingTurn[], topics: News): News | undefined {
  const told: News = Object.assign({}, ...turns.map(({ news }) => news));
  const names = new Set([...Object.keys(told), ...Object.keys(topics)]);
  const changed = [...names].flatMap((name) => {
    const text = topics[name] ?? "";
    return text === (told[name] ?? "") ? [] : [[name, text] as const];
  });
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

export function hideInNews(mask: Mask, news: News): News {
  return Object.fromEntries(Object.entries(news).map(([topic, text]) => [topic, redact(mask, text)]));
}

export function estimateNews(news: News | undefined): number {
  return Object.values(news ?? {}).reduce((sum, text) => sum + estimateText(text), 0);
}

/** True if a turn has a message that can tell something. */
export const canTell = (messages: readonly RenderedMessage[]): boolean => messages.some(isUsers);

/** Returns the messages with what the turns tell in front of their first message. */
export function tellNews(
  messages: readonly RenderedMessage[],
  turns: readonly TellingTurn[],
): readonly RenderedMessage[] {
  const blocks = new Map<RenderedMessage, string>();
  let known = turns[0]?.day;
  for (const { day, news = {}, messages } of turns) {
    const first = messages.find(isUsers);
    if (first === undefined) continue;
    const lines = Object.entries(news).map(
      ([topic, text]) => text || `What was said about ${topic} no longer applies.`,
    );
    if (day !== known) lines.unshift(`Today is ${day}.`);
    known = day;
    if (lines.length > 0) blocks.set(first, renderBlock("now", lines.join("\n\n")));
  }
  return messages.map((message) => {
    const block = blocks.get(message);
    if (block === undefined || message.role !== "user") return message;
    return { ...message, text: [block, message.text].filter((text) => text !== "").join("\n\n") };
  });
}

const isUsers = ({ role }: RenderedMessage) => role === "user";
