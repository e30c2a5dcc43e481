/** Brings one turn together with its model, its tools and its history, and counts what it costs. */

import { type Model, NO_USAGE, redact, type TokenCount } from "../../../kernel/kit.ts";
import {
  Fault,
  type Log,
  type Mask,
  type ModelName,
  type Queries,
  reason,
  type Services,
  type Turn,
  type TurnEvent,
  type Usage,
} from "../../../kernel/plugin.ts";
import { createComposer } from "../context/composer.ts";
import { systemText } from "../context/prompt.ts";
import { summarise } from "../context/summary.ts";
import { type Context, digest, NO_SUMMARY, nothingStored, type Stored } from "../context/window.ts";
import type { Extensions, TurnPreface } from "../extensions.ts";
import type { TurnObserver } from "../live/observer.ts";
import { allowsTool, refuseWidening, scopesOf } from "../safety/scope.ts";
import type { TurnSettings } from "../settings.ts";
import type { Ending } from "../threads/ending.ts";
import type { LedgerTurn } from "../threads/ledger.ts";
import { createRequiredTools, type RequiredTools } from "../threads/required-tools.ts";
import type { Beginning } from "../threads/resume.ts";
import type { Summary } from "../threads/thread-row.ts";
import { createChoice } from "./answer/choice.ts";
import { createFormat } from "./answer/format.ts";
import { ableModels } from "./answer/inputs.ts";
import { checkedTurn } from "./checked-turn.ts";
import { runLoop } from "./loop.ts";
import { createRequests } from "./requests.ts";
import { openToolbox, type Toolbox, type ToolSources, underRules } from "./toolbox.ts";

export interface RunnerParts {
  readonly models: Services["models"];
  /** What was chosen for the thread of a turn that is about to be opened. */
  chosenFor(turn: Turn): Promise<ModelName | undefined>;
  readonly sql: Queries;
  readonly context: Context;
  readonly sources: ToolSources;
  readonly extensions: Extensions;
  readonly mask: Mask;
  readonly log: Log;
}

export interface OpenRun {
  /** Says that it starts, and with which model. */
  begin(): Promise<void>;
  loop(beginning: Beginning): Promise<Ending>;
  usage(): Usage;
  /** The ending without a secret that an error may have quoted. */
  hide(ending: Ending): Ending;
}

export interface Listening {
  readonly signal: AbortSignal;
  emit(event: TurnEvent): void;
  /** Called with every sign of life: of the model, also where it has nothing to show yet, and of tools. */
  alive(): void;
  readonly observer: TurnObserver;
}

type Opened = Pick<LedgerTurn, "turn" | "scopes" | "writer"> & { readonly settings: TurnSettings };

export interface TurnRunner {
  model(): ModelName;
  /** The model for a turn that is about to be opened. Rejects with a `Fault` where its token may not do this here. */
  admit(turn: Turn): Promise<ModelName>;
  open(opened: Opened, listening: Listening): OpenRun;
}

export function createTurnRunner(parts: RunnerParts): TurnRunner {
  const { models } = parts;
  return {
    model: models.name,
    async admit(turn) {
      refuseWidening(turn);
      const chosen = turn.thread === undefined ? (turn.model as ModelName | undefined) : undefined;
      if (turn.scope === undefined) return chosen ?? models.name();
      const bounds = { scopes: scopesOf(turn), capUsd: undefined };
      const [model] = await models.chain(await parts.chosenFor(turn), bounds);
      return model?.name ?? models.name();
    },
    open: (opened, listening) => new Run(parts, opened, listening),
  };
}

class Run implements OpenRun {
  readonly parts: RunnerParts;
  readonly opened: Opened;
  readonly listening: Listening;
  /** The models to try, best first; known when it has begun. */
  chain: readonly Model[] = [];
  /** The model that answers now. */
  serving: Model | undefined;
  /** US dollars the user may spend today. */
  capUsd: number | undefined;
  #usage = NO_USAGE;

  constructor(parts: RunnerParts, opened: Opened, listening: Listening) {
    this.parts = parts;
    this.opened = opened;
    this.listening = listening;
  }

  usage(): Usage {
    return this.#usage;
  }

  hide(ending: Ending): Ending {
    if (ending.error === undefined) return ending;
    return { ...ending, error: { ...ending.error, message: redact(this.parts.mask, ending.error.message) } };
  }

  async begin(): Promise<void> {
    const { models } = this.parts;
    const { turn, scopes, writer } = this.opened;
    this.capUsd = await models.dailyCap();
    this.chain = ableModels(await models.chain(writer.chosen, { scopes, capUsd: this.capUsd }), turn);
    this.serving = this.chain[0];
    if (scopes.some(({ perDayUsd }) => perDayUsd !== undefined))
      models.warnUncounted("the daily cap of a token", this.chain);
    if (turn.budgetUsd !== undefined) models.warnUncounted("a budget", this.chain);
    const name = this.serving?.name ?? models.name();
    writer.setModel(name);
    const { id, thread, after } = writer;
    this.listening.emit({
      type: "started",
      turn: id,
      thread,
      ...(after !== undefined && { after }),
      model: name,
    });
  }

  async loop(beginning: Beginning): Promise<Ending> {
    const { parts, opened, listening } = this;
    const { turn, scopes, writer, settings } = opened;
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
    const requests = createRequests(this, {
      ...{ toolbox, stored, choice, format, required },
      compose: this.#composer([...sections, ...toolbox.about], stored, format),
    });
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
      pending: beginning.pending,
      approved: beginning.approved,
      refuse: choice.refuse,
      format,
      holdsBack: () => format !== undefined && !format.isKeptBy(this.serving),
      isSpent: requests.isSpent,
      emit: (event) => {
        listening.alive();
        listening.emit(event);
      },
      ask: requests.ask,
      count: requests.count,
    });
    const { gate } = ending;
    if (gate === undefined) return ending;
    const callersToolsWin = turn.callersToolsWin && { callersToolsWin: true };
    return { ...ending, gate: { ...gate, ...(scopes.length > 0 && { scopes }), ...callersToolsWin } };
  }

  notice(code: string, message: string): void {
    this.listening.observer.noticed(code);
    this.listening.emit({ type: "notice", code, message: redact(this.parts.mask, message) });
  }

  /** Counts tokens of the turn, of the user and of the tokens behind it. */
  count(model: ModelName, tokens: TokenCount): void {
    const { models } = this.parts;
    const { turn, scopes, writer } = this.opened;
    const spent = models.addCost(NO_USAGE, model, tokens);
    writer.add((tx) => models.spend(tx, turn.user, spent, scopes));
    this.listening.observer.spent(model, spent);
    this.#usage = models.addCost(this.#usage, model, tokens);
  }

  /** Looked at before each request, so that the last one may pass it. */
  async assertAffordable(): Promise<void> {
    const { turn, scopes } = this.opened;
    const spent = Number(this.#usage.totalCost);
    if (turn.budgetUsd !== undefined && spent >= turn.budgetUsd)
      throw new Fault(
        "turn",
        "budget_spent",
        `This run has used $${spent.toFixed(2)}, and its budget is $${turn.budgetUsd.toFixed(2)}, so it was stopped.`,
      );
    await this.parts.models.assertLeft(turn.user, this.capUsd, scopes);
  }

  #openTools(required: RequiredTools, preface: Promise<TurnPreface>): Promise<Toolbox> {
    const { parts, opened } = this;
    const { turn, scopes, writer, settings } = opened;
    const checked = checkedTurn(parts, turn, writer, async () => (await preface).persons);
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
      unattended: turn.unattended ?? false,
      isScoped: scopes.length > 0,
    };
    return openToolbox(underRules(parts.sources, settings), scope, (why) => {
      parts.log.warn(`continuing the turn without installed tools: ${why}`);
      this.notice("tools_unavailable", `The installed tools are not available: ${why}`);
    });
  }

  #composer(
    sections: readonly string[],
    stored: Stored,
    format: ReturnType<typeof createFormat> | undefined,
  ) {
    const { mask, context, extensions } = this.parts;
    const { turn, writer } = this.opened;
    const once = turn.instructionsOnce ? [redact(mask, turn.instructionsOnce)] : [];
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

  /** What the caller has sent whole is not shown as a summary. */
  #readPast(summary?: Summary): Promise<Stored> {
    const { turn, writer } = this.opened;
    return this.parts.context.read(writer, turn.isReplay ? NO_SUMMARY : summary);
  }

  async #summarise(model: Model, transcript: string): Promise<string> {
    if (model.name.provider === "builtin") return digest(transcript);
    const { mask, log } = this.parts;
    const { signal, alive } = this.listening;
    this.notice(
      "summarising",
      "The thread no longer fits the model's context window; summarising the beginning.",
    );
    try {
      const count = (tokens: TokenCount) => this.count(model.name, tokens);
      return redact(mask, await summarise(model, transcript, { signal, alive, count }));
    } catch (error) {
      if (signal.aborted) throw error;
      // The turn matters more than its summary.
      log.warn(`the model could not summarise, using a digest instead: ${reason(error)}`);
      return digest(transcript);
    }
  }
}
