/** Brings one turn together with its model, its tools and its history, and counts what it costs. */

import { redact } from "../../../kernel/kit/secrets.ts";
import { NO_USAGE } from "../../../kernel/kit/turns.ts";
import {
  Fault,
  type Log,
  type Mask,
  type ModelName,
  type Queries,
  reason,
  type Services,
  type TurnEvent,
  type Usage,
} from "../../../kernel/plugin.ts";
import type {
  Model,
  ModelMessage,
  ModelPart,
  ModelRequest,
  Purse,
  TokenCount,
} from "../../models/services.ts";
import { type Compose, createComposer } from "../context/composer.ts";
import { systemText } from "../context/prompt.ts";
import { type Context, digest, nothingStored, type Stored, summarise } from "../context/window.ts";
import type { Extensions, TurnPreface } from "../extensions.ts";
import type { TurnObserver } from "../live/observer.ts";
import { allowsTool, refuseWidening, scopesOf } from "../safety/scope.ts";
import type { Turn } from "../services.ts";
import type { TurnSettings } from "../settings.ts";
import type { Ending } from "../threads/ending.ts";
import type { LedgerTurn } from "../threads/ledger.ts";
import { createRequiredTools, type RequiredTools } from "../threads/required-tools.ts";
import type { Beginning } from "../threads/resume.ts";
import { NO_SUMMARY, type Summary } from "../threads/thread-row.ts";
import { redactLong } from "../threads/turns/long-texts.ts";
import { type Choice, createChoice } from "./answer/choice.ts";
import { type AnswerFormat, createFormat } from "./answer/format.ts";
import { ableModels, withoutUntaken } from "./answer/inputs.ts";
import { checkedTurn } from "./checked-turn.ts";
import { runLoop } from "./loop.ts";
import { openToolbox, type Toolbox, type ToolSources, underRules } from "./toolbox.ts";

const GETTING_READY =
  "The tools that come with Postern are being made ready, once; in a clone they are built first, which takes a minute or two.";

export interface RunnerParts {
  readonly models: Services["models"];
  /** Returns the model that was chosen for the thread of a turn that is about to be opened. */
  chosenFor(turn: Turn): Promise<ModelName | undefined>;
  readonly sql: Queries;
  readonly context: Context;
  readonly sources: ToolSources;
  readonly extensions: Extensions;
  readonly mask: Mask;
  readonly log: Log;
}

interface Listening {
  readonly signal: AbortSignal;
  emit(event: TurnEvent): void;
  /** Called with every sign of life: of the model, also where it has nothing to show yet, and of tools. */
  alive(): void;
  readonly observer: TurnObserver;
}

type Opened = Pick<LedgerTurn, "turn" | "scopes" | "writer"> & { readonly settings: TurnSettings };

export type TurnRunner = ReturnType<typeof createTurnRunner>;

export function createTurnRunner(parts: RunnerParts) {
  const { models } = parts;
  return {
    model: models.name,
    /** The model for a turn that is about to be opened. Rejects with a `Fault` where its token may not do this here. */
    async admit(turn: Turn): Promise<ModelName> {
      refuseWidening(turn);
      const chosen = turn.thread === undefined ? (turn.model as ModelName | undefined) : undefined;
      const scopes = scopesOf(turn);
      if (scopes.length === 0) return chosen ?? models.name();
      const bounds = { scopes, capUsd: undefined };
      const [model] = await models.chain(await parts.chosenFor(turn), bounds);
      return model?.name ?? models.name();
    },
    open: (opened: Opened, listening: Listening) => new Run(parts, opened, listening),
  };
}

/** The parameters of one request to the model. */
interface Asking {
  readonly toolbox: Toolbox;
  readonly stored: Stored;
  readonly choice: Choice;
  readonly format: AnswerFormat | undefined;
  readonly required: RequiredTools;
  readonly compose: Compose;
}

class Run {
  readonly #parts: RunnerParts;
  readonly #opened: Opened;
  readonly #listening: Listening;
  /** The models to try, best first; known when it has begun. */
  #chain: readonly Model[] = [];
  #serving: Model | undefined;
  /** US dollars the user may spend today. */
  #capUsd: number | undefined;
  #usage = NO_USAGE;
  /** What other turns used that worked for this one. */
  #others = NO_USAGE;
  #purses: readonly Purse[] = [];
  /** Output tokens of its answers so far. */
  #spoken = 0;

  constructor(parts: RunnerParts, opened: Opened, listening: Listening) {
    this.#parts = parts;
    this.#opened = opened;
    this.#listening = listening;
  }

  usage(): Usage {
    return this.#usage;
  }

  #total(): Usage {
    return this.#others === NO_USAGE ? this.#usage : this.#parts.models.addUsage(this.#usage, this.#others);
  }

  /** The ending with all that was used for it, and without a secret that an error may have quoted. */
  hide(given: Ending): Ending {
    const ending = { ...given, total: this.#total() };
    if (ending.error === undefined) return ending;
    return { ...ending, error: { ...ending.error, message: redact(this.#parts.mask, ending.error.message) } };
  }

  /** Says that it starts, and with which model. */
  async begin(): Promise<void> {
    const { models } = this.#parts;
    const { turn, scopes, writer } = this.#opened;
    const { task, job, budgetUsd } = turn;
    this.#purses = await models.openPurses({ id: writer.id, thread: writer.thread, task, job, budgetUsd });
    for (const purse of this.#purses) await purse.assertLeft(0);
    this.#capUsd = await models.dailyCap();
    this.#chain = ableModels(await models.chain(writer.chosen, { scopes, capUsd: this.#capUsd }), turn);
    this.#serving = this.#chain[0];
    if (scopes.some(({ perDayUsd }) => perDayUsd !== undefined))
      models.warnUncounted("the daily cap of a token", this.#chain);
    if (turn.budgetUsd !== undefined) models.warnUncounted("a budget", this.#chain);
    const name = this.#serving?.name ?? models.name();
    writer.setModel(name);
    const { id: turnId, thread, after } = writer;
    this.#listening.emit({ type: "started", turn: turnId, thread, after, model: name });
  }

  async loop(beginning: Beginning): Promise<Ending> {
    const parts = this.#parts;
    const listening = this.#listening;
    const { turn, scopes, writer, settings } = this.#opened;
    const required = createRequiredTools(beginning.required);
    required.add(turn.requiredTools ?? []);
    const preface = parts.extensions.preface(turn.user, (tool) => allowsTool(scopes, tool));
    // All that the store is asked for before the model is, in one go.
    const [toolbox, { sections, requiredTools }, stored] = await Promise.all([
      this.#openTools(required, preface),
      preface,
      writer.isFirst ? nothingStored(writer.thread, writer.seq) : this.#readPast(writer.summary),
    ]);
    required.add(requiredTools);
    const choice = createChoice(turn, toolbox);
    const { host } = parts.sources;
    const format = turn.format && createFormat(turn.format, host?.checkJson?.bind(host));
    const compose = await this.#composer([...sections, ...toolbox.about], stored, format);
    const asking = { toolbox, stored, choice, format, required, compose };
    const ending = await runLoop({
      writer,
      toolbox,
      mask: parts.mask,
      signal: listening.signal,
      observer: listening.observer,
      maxToolCalls: settings.maxToolCalls,
      together: turn.parallelCalls ?? false,
      unattended: turn.unattended ?? false,
      required,
      addUsage: (usage) => {
        this.#others = parts.models.addUsage(this.#others, usage);
      },
      pending: beginning.pending,
      approved: beginning.approved,
      refuse: choice.refuse,
      format,
      holdsBack: () => format !== undefined && !format.isKeptBy(this.#serving),
      isSpent: () => this.#left() <= 0,
      emit: (event) => {
        listening.alive();
        listening.emit(event);
      },
      ask: (besides) => this.#ask(asking, besides),
      count: (tokens) => {
        this.#spoken += tokens.outputTokens;
        this.#count(this.#serving?.name ?? parts.models.name(), tokens);
      },
    });
    const { gate } = ending;
    if (gate === undefined) return ending;
    const callersToolsWin = turn.callersToolsWin && { callersToolsWin: true };
    const bound = { ...(scopes.length > 0 && { scopes }), ...(turn.task && { task: turn.task }) };
    return { ...ending, gate: { ...gate, ...bound, ...callersToolsWin } };
  }

  /** How many tokens the turn may still say. */
  #left(): number {
    const { maxOutputTokens = Number.POSITIVE_INFINITY } = this.#opened.turn.generation ?? {};
    return maxOutputTokens - this.#spoken;
  }

  /** One answer to the thread as it now is, and to what is said besides. */
  async #ask(
    { toolbox, stored, choice, format, required, compose }: Asking,
    besides: readonly ModelMessage[],
  ): Promise<AsyncIterable<readonly ModelPart[]>> {
    const { turn, writer } = this.#opened;
    const { signal, alive, observer } = this.#listening;
    await this.#assertAffordable();
    const offer = choice.offer();
    const said = {
      summary: stored.summary.text,
      past: stored.past.turns.map(({ messages }) => messages),
      items: writer.items,
      required: required.carry().tools,
    };
    const offered = toolbox.offer(said, choice.names);
    const left = this.#left();
    const generation = { ...turn.generation, ...(Number.isFinite(left) && { maxOutputTokens: left }) };
    const requestFor = async (model: Model): Promise<ModelRequest> => {
      // It reads no tokens, and looks at all of them itself.
      const offering = offer(model.name.provider === "builtin" ? toolbox.all : offered);
      const composed = await compose(model, offering.tools);
      const messages = withoutUntaken([...composed.messages, ...besides], model);
      const isAsked = turn.format !== undefined && format?.canBeAskedOf(model);
      return { ...composed, ...offering, messages, generation, ...(isAsked && { format: turn.format }) };
    };
    return this.#parts.models.stream(this.#chain, requestFor, {
      ...{ signal, alive, observer },
      notice: (code, message) => this.#notice(code, message),
      onModel: (model) => {
        if (model !== this.#serving) writer.setModel(model.name);
        this.#serving = model;
      },
    });
  }

  #notice(code: string, message: string): void {
    this.#listening.observer.noticed(code);
    this.#listening.alive();
    this.#listening.emit({ type: "notice", code, message: redact(this.#parts.mask, message) });
  }

  /** Counts tokens of the turn, of the user and of the tokens behind it. */
  #count(model: ModelName, tokens: TokenCount): void {
    const { models } = this.#parts;
    const { turn, scopes, writer } = this.#opened;
    const spent = models.addCost(NO_USAGE, model, tokens);
    writer.add((tx) => {
      models.spend(tx, turn.user, spent, scopes);
      for (const purse of this.#purses) purse.spend(tx, Number(spent.totalCost));
    });
    this.#listening.observer.spent(model, spent);
    this.#usage = models.addCost(this.#usage, model, tokens);
  }

  /** Checked before each request, so that the last one may pass it. */
  async #assertAffordable(): Promise<void> {
    const { turn, scopes } = this.#opened;
    for (const purse of this.#purses) await purse.assertLeft(Number(this.#usage.totalCost));
    const spent = Number(this.#total().totalCost);
    if (turn.budgetUsd !== undefined && spent >= turn.budgetUsd) {
      const message = `This run has used $${spent.toFixed(2)}, and its budget is $${turn.budgetUsd.toFixed(2)}, so it was stopped.`;
      throw new Fault("turn", "budget_spent", message);
    }
    await this.#parts.models.assertLeft(turn.user, this.#capUsd, scopes);
  }

  #openTools(required: RequiredTools, preface: Promise<TurnPreface>): Promise<Toolbox> {
    const parts = this.#parts;
    const { turn, scopes, writer, settings } = this.#opened;
    const checked = checkedTurn(parts, turn, writer, preface);
    const scope = {
      checks: (installed: Parameters<typeof checked>[0]) => parts.extensions.check(checked(installed)),
      user: turn.user,
      channel: turn.channel,
      thread: writer.thread,
      turn: writer.id,
      external: turn.tools ?? [],
      callersWin: turn.callersToolsWin ?? false,
      allows: (tool: string) => allowsTool(scopes, tool),
      require: required.add,
      narrow: required.narrow,
      stays: required.allows,
      unattended: turn.unattended ?? false,
      isScoped: scopes.length > 0,
      delegating: {
        ...{ task: turn.task, job: turn.job, budgetUsd: turn.budgetUsd },
        ...{ scopes, signal: this.#listening.signal, alive: this.#listening.alive },
        spentUsd: () => Number(this.#usage.totalCost),
        notice: (code: string, message: string) => this.#notice(code, message),
      },
      signal: this.#listening.signal,
    };
    return openToolbox(underRules(parts.sources, settings), scope, {
      onTrouble: (why) => {
        parts.log.warn(`continuing the turn without installed tools: ${why}`);
        this.#notice("tools_unavailable", `The installed tools are not available: ${why}`);
      },
      onWait: () => this.#notice("tools_getting_ready", GETTING_READY),
    });
  }

  async #composer(
    sections: readonly string[],
    stored: Stored,
    format: AnswerFormat | undefined,
  ): Promise<Compose> {
    const { mask, context, extensions } = this.#parts;
    const { turn, writer } = this.#opened;
    const once = turn.instructionsOnce ? [await redactLong(mask, turn.instructionsOnce)] : [];
    return createComposer({
      turn,
      items: writer.items,
      system: redact(mask, systemText(new Date(), sections)),
      stored,
      context,
      mask,
      trusted: extensions.followed,
      once: (model) =>
        format === undefined || format.isKeptBy(model) ? once : [...once, redact(mask, format.words)],
      readAgain: () => this.#readPast(),
      summarise: (model, transcript) => this.#summarise(model, transcript),
    });
  }

  /** A caller that sends the whole thread is not shown a summary of it. */
  #readPast(summary?: Summary): Promise<Stored> {
    const { turn, writer } = this.#opened;
    return this.#parts.context.read(writer, turn.isReplay ? NO_SUMMARY : summary);
  }

  async #summarise(model: Model, transcript: string): Promise<string> {
    if (model.name.provider === "builtin") return digest(transcript);
    const { mask, log } = this.#parts;
    const { signal, alive } = this.#listening;
    this.#notice(
      "summarising",
      "The thread no longer fits the model's context window; summarising the beginning.",
    );
    try {
      const count = (tokens: TokenCount) => this.#count(model.name, tokens);
      return redact(mask, await summarise(model, transcript, { signal, alive, count }));
    } catch (error) {
      if (signal.aborted) throw error;
      // The turn matters more than its summary.
      log.warn(`the model could not summarise, using a digest instead: ${reason(error)}`);
      return digest(transcript);
    }
  }
}
