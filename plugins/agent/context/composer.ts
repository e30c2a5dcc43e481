/** Makes the requests of one turn to its models: what they are shown, as it fits the window of each. */

import { giveWay } from "../../../kernel/kit/concurrency.ts";
import { estimateText } from "../../../kernel/kit/turns.ts";
import type { Mask, TurnItem } from "../../../kernel/plugin.ts";
import type { Model, ModelRequest, ModelTool } from "../../models/services.ts";
import type { Turn } from "../services.ts";
import { canTell, dayOf, estimateNews, type News, newsSince, tellNews } from "../threads/news.ts";
import { BYTES_PER_TOKEN, estimateTokens, estimateTools } from "../threads/tokens.ts";
import { hideLong, type Preface, renderBlock, renderItems, type Show } from "../threads/turns/messages.ts";
import type { RunningWriter } from "../threads/writing/writer.ts";
import { createAttacher } from "./attached-bytes.ts";
import { tooLong } from "./truncation.ts";
import { assemble, type Context, type Fitted, type Sent, type Stored, TOO_LONG } from "./window.ts";

export interface Composing {
  readonly turn: Turn;
  /** Grows while the turn runs; it begins with what came with the request. */
  readonly items: readonly TurnItem[];
  system(day: string): string;
  /** What changes while a thread continues, as it is now. */
  readonly topics: News;
  readonly writer: Pick<RunningWriter, "openedAt" | "tell">;
  readonly stored: Stored;
  readonly context: Context;
  readonly mask: Mask;
  readonly trusted: ReadonlySet<string>;
  /** Said to this model with this turn only, at the end of the system text: the rest of the prompt stays as it was, for caches. */
  once(model: Model): readonly string[];
  /** Reads the stored part again once a model with a smaller window has had the oldest summarised. */
  readAgain(): Promise<Stored>;
  summarise(model: Model, transcript: string): Promise<string>;
}

/** `tools`: what the model is offered, which may grow in the course of the turn. */
export type Compose = (model: Model, tools: readonly ModelTool[]) => Promise<ModelRequest>;

// Kept free for the answer.
const MAX_ANSWER_LENGTH = 8192;
// The share of the room for messages that history leaves to the turn itself.
const SHARE_OF_TURN = 0.25;

/** History is read once for a turn. */
export function createComposer(composing: Composing): Compose {
  const { turn, items, system, stored, context, mask, trusted, topics, writer } = composing;
  const preface: Preface = turn.preamble ?? {};
  const hidden = new Map<string, string>();
  const show: Show = { mask, trusted, outputs: new WeakMap(), hidden };
  const fitted = new Map<Model, Promise<Fitted>>();
  const sent = sentWith(turn, items, stored);
  const today = dayOf(writer.openedAt);
  let told: string | undefined;
  const attach = createAttacher(turn, (ids) => context.attachments(stored.thread, ids), mask);

  async function fitPast(model: Model, budget: number, own: number): Promise<Fitted> {
    const now = fitted.size === 0 ? stored : await composing.readAgain();
    const { turns } = now.past;
    const from = turns.length - sent.turns;
    const brought = own + turns.slice(from).reduce((sum, { tokens }) => sum + tokens, 0);
    if (turn.answer?.truncation === "disabled" && brought > budget)
      throw tooLong(brought, budget, model.window);
    // Results stay with their calls, which the turn before has made.
    const isParted = sent.turns > 0 ? turns[from]?.isWhole === false : items[0]?.type === "tool_result";
    return context.fit(now, {
      budget: budget - Math.max(own, budget * SHARE_OF_TURN),
      kept: sent.turns + (isParted ? 1 : 0),
      summarise: (transcript) => composing.summarise(model, transcript),
    });
  }

  function keepNews(news: News | undefined): void {
    const text = JSON.stringify(news);
    if (news !== undefined && text !== told) writer.tell(news);
    told = text;
  }

  return async (model, tools) => {
    const { window } = model;
    // Before it is rendered, which takes long where it is that long.
    const said = items.reduce((sum, item) => sum + (isSaid(item) ? estimateText(item.text) : 0), 0);
    if (said > window) throw turn.answer?.truncation === undefined ? TOO_LONG : tooLong(said, window, window);
    const once = composing.once(model).map((text) => renderBlock("instructions", text));
    const systemOn = (day: string) => [system(day), ...once].join("\n\n");
    const fixed = estimateText(systemOn(today)) + estimateTools(tools);
    const budget = Math.max(0, window - fixed - Math.min(MAX_ANSWER_LENGTH, Math.floor(window / 4)));
    await hideLong(mask, items, preface, hidden);
    const render = (open: Stored["past"]["open"]) => renderItems(items, preface, open, show);
    const alone = render(stored.past.open).messages;
    const own =
      alone.reduce((sum, message) => sum + estimateTokens(message), 0) +
      estimateNews(newsSince(stored.past.turns, topics));
    await giveWay(own * BYTES_PER_TOKEN);
    const past = fitted.get(model) ?? fitPast(model, budget, own);
    fitted.set(model, past);
    const known = await past;
    const present = render(known.open);
    const news = canTell(present.messages) ? newsSince(known.turns, topics) : undefined;
    keepNews(news);
    const assembled = assemble(known, present, { budget, window }, sent);
    const messages = await attach(tellNews(assembled, [...known.turns, { ...present, day: today, news }]));
    await giveWay(own * BYTES_PER_TOKEN);
    return {
      system: systemOn(known.turns[0]?.day ?? today),
      messages,
      tools,
      temperature: turn.answer?.temperature,
      parallelCalls: turn.answer?.parallelCalls,
    };
  };
}

const isSaid = (item: TurnItem): item is Extract<TurnItem, { type: "message" }> =>
  item.type === "message" && item.role !== "assistant";

function sentWith(turn: Turn, items: readonly TurnItem[], { past }: Stored): Sent {
  const truncation = turn.answer?.truncation;
  const { isReplay, history } = turn.preamble ?? {};
  const isBrought = isReplay || history?.length;
  return {
    turns: truncation === undefined || !isBrought ? 0 : isReplay ? past.turns.length : 1,
    calls: new Set(
      truncation === undefined
        ? []
        : items.flatMap((item) => (item.type === "tool_result" ? [item.call] : [])),
    ),
    truncation,
  };
}
