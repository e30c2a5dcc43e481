/** Asks the models of one turn for its next answer: what they are shown, which tools they are offered, and which of them answers. */
import { hash } from "node:crypto";
import { redact } from "../../../kernel/kit/secrets.ts";
import {
  type Log,
  type Mask,
  type ModelName,
  reason,
  type Services,
  type TurnEvent,
} from "../../../kernel/plugin.ts";
import type { Model, ModelMessage, ModelPart, ModelRequest, TokenCount } from "../../models/services.ts";
import { createComposer } from "../context/composer.ts";
import { systemText } from "../context/prompt.ts";
import { type Context, digest, type Stored, summarise } from "../context/window.ts";
import type { Extensions } from "../extensions.ts";
import type { TurnObserver } from "../live/observer.ts";
import type { Turn } from "../services.ts";
import type { TurnSettings } from "../settings.ts";
import type { LedgerTurn } from "../threads/ledger.ts";
import { hideInNews, type News } from "../threads/news.ts";
import type { RequiredTools } from "../threads/required-tools.ts";
import { NO_SUMMARY, type Summary } from "../threads/thread-row.ts";
import { redactLong } from "../threads/turns/long-texts.ts";
import type { RunningWriter } from "../threads/writing/writer.ts";
import type { Choice } from "./answer/choice.ts";
import type { AnswerFormat } from "./answer/format.ts";
import { withoutUntaken } from "./answer/inputs.ts";
import type { Bill } from "./bill.ts";
import type { Toolbox } from "./toolbox.ts";

/** A turn that runs, with those who hear of it. */
export interface Run extends LedgerTurn<RunningWriter> {
  readonly settings: TurnSettings;
  readonly bill: Bill;
  readonly observer: TurnObserver;
  readonly signal: AbortSignal;
  emit(event: TurnEvent): void;
  /** Called with every sign of life: of the model, even if it has nothing to show yet, and of tools. */
  alive(): void;
  /** Something that the person is told as well. */
  notice(code: string, message: string): void;
}

export interface ModelRequestParts {
  readonly models: Services["models"];
  readonly context: Context;
  readonly extensions: Pick<Extensions, "followed">;
  readonly mask: Mask;
  readonly log: Log;
}

/**
 * What stays the same while requests continue each other: the thread. A caller that brings the conversation along gets a new
 * thread each time, so there it is whose conversation it is, and how that began.
 */
function conversationOf({ user, input, preamble, keeping }: Turn, thread: string): string {
  const { history = [] } = preamble ?? {};
  if (keeping?.ephemeral !== true && history.length === 0) return thread;
  const first = history.find((item) => item.type === "message" && item.role === "user") ?? input;
  return JSON.stringify([user, first.type === "message" ? first.text : ""]);
}

interface Asking {
  /** The models to try, best first. */
  readonly chain: readonly Model[];
  readonly sections: readonly string[];
  readonly topics: News;
  readonly stored: Stored;
  readonly toolbox: Toolbox;
  readonly choice: Choice;
  readonly format: AnswerFormat | undefined;
  readonly required: RequiredTools;
}

export async function createModelRequests(parts: ModelRequestParts, run: Run, asking: Asking) {
  const { models, mask, context, extensions, log } = parts;
  const { turn, writer, bill, signal, alive, observer } = run;
  const { chain, sections, topics, stored, toolbox, choice, format, required } = asking;
  let serving = chain[0];
  const servingName = (): ModelName => serving?.name ?? models.name();

  async function summarisePast(model: Model, transcript: string): Promise<string> {
    if (model.name.provider === "builtin") return digest(transcript);
    run.notice(
      "summarising",
      "The thread no longer fits the model's context window; summarising the beginning.",
    );
    try {
      const count = (tokens: TokenCount) => bill.count(model.name, tokens);
      return redact(mask, await summarise(model, transcript, { signal, alive, count }));
    } catch (error) {
      if (signal.aborted) throw error;
      // The turn matters more than its summary.
      log.warn(`the model could not summarise, using a digest instead: ${reason(error)}`);
      return digest(transcript);
    }
  }

  const cacheKey = hash("sha256", conversationOf(turn, writer.thread)).slice(0, 32);
  const once = turn.preamble?.instructionsOnce
    ? [await redactLong(mask, turn.preamble?.instructionsOnce)]
    : [];
  const compose = createComposer({
    turn,
    items: writer.items,
    system: (day) => redact(mask, systemText(day, sections)),
    topics: hideInNews(mask, topics),
    writer,
    stored,
    context,
    mask,
    trusted: extensions.followed,
    once: (model) =>
      format === undefined || format.isKeptBy(model) ? once : [...once, redact(mask, format.words)],
    readAgain: () => readPast(parts, run),
    summarise: summarisePast,
  });

  return {
    /** True if what the model says is shown only once it fits the format. */
    holdsBack: () => format !== undefined && !format.isKeptBy(serving),
    count: (tokens: TokenCount) => bill.countAnswer(servingName(), tokens),
    /** One answer to the thread as it now is, and to what is said besides. */
    async ask(besides: readonly ModelMessage[]): Promise<AsyncIterable<readonly ModelPart[]>> {
      await bill.assertAffordable();
      const offer = choice.offer();
      const said = {
        summary: stored.summary.text,
        past: stored.past.turns.map(({ messages }) => messages),
        items: writer.items,
        required: required.carry().tools,
      };
      const offered = toolbox.offer(said, choice.names);
      const left = bill.left();
      const generation = {
        ...turn.answer?.generation,
        cacheKey: turn.answer?.generation?.cacheKey ?? cacheKey,
        ...(Number.isFinite(left) && { maxOutputTokens: left }),
      };
      const requestFor = async (model: Model): Promise<ModelRequest> => {
        // It reads no tokens, and looks at all of them itself.
        const offering = offer(model.name.provider === "builtin" ? toolbox.all : offered);
        const composed = await compose(model, offering.tools);
        const messages = withoutUntaken([...composed.messages, ...besides], model);
        const isAsked = turn.answer?.format !== undefined && format?.canBeAskedOf(model);
        return {
          ...composed,
          ...offering,
          messages,
          generation,
          user: turn.user,
          ...(isAsked && { format: turn.answer?.format }),
        };
      };
      return models.stream(chain, requestFor, {
        ...{ signal, alive, observer, notice: run.notice },
        // A longer silence would end the turn.
        patienceSecs: run.settings.turnIdleSecs * 0.9,
        onModel: (model) => {
          if (model !== serving) writer.setModel(model.name);
          serving = model;
        },
      });
    },
  };
}

/** A caller that sends the whole thread is not shown a summary of it. */
export function readPast(
  { context }: Pick<ModelRequestParts, "context">,
  { turn, writer }: Run,
  summary?: Summary,
): Promise<Stored> {
  return context.read(writer, turn.preamble?.isReplay ? NO_SUMMARY : summary);
}
