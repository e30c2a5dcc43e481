/** The requests of one turn to its models: what each is offered, and how much of its answer is left. */
import type { Model, ModelMessage, ModelPart, ModelRequest, TokenCount } from "../../../kernel/kit.ts";
import type { ModelName, Services, Turn } from "../../../kernel/plugin.ts";
import type { Compose } from "../context/composer.ts";
import type { Stored } from "../context/window.ts";
import type { RequiredTools } from "../threads/required-tools.ts";
import type { TurnWriter } from "../threads/writing/writer.ts";
import type { Choice } from "./answer/choice.ts";
import type { AnswerFormat } from "./answer/format.ts";
import { withoutUntaken } from "./answer/inputs.ts";
import type { Toolbox } from "./toolbox.ts";

export interface AskingTurn {
  readonly parts: { readonly models: Pick<Services["models"], "name" | "stream"> };
  readonly opened: { readonly turn: Turn; readonly writer: Pick<TurnWriter, "items" | "setModel"> };
  readonly listening: Pick<StreamOptions, "signal" | "alive" | "observer">;
  readonly chain: readonly Model[];
  serving: Model | undefined;
  notice(code: string, message: string): void;
  count(model: ModelName, tokens: TokenCount): void;
  assertAffordable(): Promise<void>;
}

type StreamOptions = Parameters<Services["models"]["stream"]>[2];

export interface RequestParts {
  readonly toolbox: Toolbox;
  readonly stored: Stored;
  readonly choice: Choice;
  readonly format: AnswerFormat | undefined;
  readonly required: RequiredTools;
  readonly compose: Compose;
}

export interface Requests {
  /** One answer to the thread as it now is, and to what is said besides. */
  ask(besides: readonly ModelMessage[]): Promise<AsyncIterable<readonly ModelPart[]>>;
  count(tokens: TokenCount): void;
  /** Whether the turn may say nothing more. */
  isSpent(): boolean;
}

export function createRequests(run: AskingTurn, parts: RequestParts): Requests {
  const { turn, writer } = run.opened;
  const { signal, alive, observer } = run.listening;
  const { models } = run.parts;
  const { toolbox, stored, choice, format, required, compose } = parts;
  const { maxOutputTokens } = turn.generation ?? {};
  let spent = 0;

  return {
    async ask(besides) {
      await run.assertAffordable();
      const offer = choice.offer();
      const said = {
        summary: stored.summary.text,
        past: stored.past.turns.map(({ messages }) => messages),
        items: writer.items,
        required: required.carry().tools,
      };
      const offered = toolbox.offer(said, choice.names);
      const generation = {
        ...turn.generation,
        ...(maxOutputTokens !== undefined && { maxOutputTokens: maxOutputTokens - spent }),
      };
      const requestFor = async (model: Model): Promise<ModelRequest> => {
        // It reads no tokens, and looks at all of them itself.
        const tools = model.name.provider === "builtin" ? toolbox.all : offered;
        const offering = offer(tools);
        const composed = await compose(model, offering.tools);
        const isAsked = turn.format !== undefined && format?.canBeAskedOf(model);
        return {
          ...composed,
          ...offering,
          messages: withoutUntaken([...composed.messages, ...besides], model),
          generation,
          ...(isAsked && { format: turn.format }),
        };
      };
      return models.stream(run.chain, requestFor, {
        signal,
        notice: (code, message) => run.notice(code, message),
        alive,
        observer,
        onModel: (model) => {
          if (model !== run.serving) writer.setModel(model.name);
          run.serving = model;
        },
      });
    },
    count(tokens) {
      spent += tokens.outputTokens;
      run.count(run.serving?.name ?? models.name(), tokens);
    },
    isSpent: () => maxOutputTokens !== undefined && spent >= maxOutputTokens,
  };
}
