/** Brings one turn together with its model, its tools and its history, and counts what it costs. */

import { redact } from "../../../kernel/mask/redact.ts";
import {
  type Log,
  type Mask,
  type ModelName,
  reason,
  type Turn,
  type TurnEvent,
  type Usage,
} from "../../../kernel/plugin.ts";
import type { Model, ModelMessage, ModelRequest } from "../../../kernel/vocabulary/models/language-model.ts";
import type { ModelCatalog } from "../../models/choice/catalog.ts";
import type { Models } from "../../models/choice/choose.ts";
import { streamSteadily } from "../../models/providers/retry.ts";
import { NO_USAGE, type Prices, type TokenCount } from "../../models/spending/prices.ts";
import { assertWithin, type Spending } from "../../models/spending/spending.ts";
import type { TurnGates } from "../../provenance/turn-gates.ts";
import { createComposer } from "../context/composer.ts";
import { SUMMARY_SYSTEM, systemText } from "../context/prompt.ts";
import { type Context, digest, NO_SUMMARY, nothingStored } from "../context/window.ts";
import type { TurnObserver } from "../live/observer.ts";
import { allowedModels, allowsTool, refuseWidening, scopesOf } from "../safety/scope.ts";
import type { TurnSettings } from "../settings.ts";
import type { Ending } from "../threads/ending.ts";
import type { LedgerTurn } from "../threads/ledger.ts";
import { createRequiredTools } from "../threads/required-tools.ts";
import type { Beginning } from "../threads/resume.ts";
import type { Summary } from "../threads/thread-row.ts";
import { createChoice } from "./answer/choice.ts";
import { createFormat } from "./answer/format.ts";
import { ableModels, withoutUntaken } from "./answer/inputs.ts";
import { runLoop } from "./loop.ts";
import { openToolbox, type ToolSources, underRules } from "./toolbox.ts";

export interface RunnerParts {
  readonly models: Models;
  readonly chain: ModelCatalog["chain"];
  /** What was chosen for the thread of a turn that is about to be opened. */
  chosenFor(turn: Turn): Promise<ModelName | undefined>;
  readonly prices: Prices;
  readonly spending: Spending;
  readonly context: Context;
  readonly sources: ToolSources;
  /** What the values of calls are held against. */
  readonly gates: TurnGates;
  readonly mask: Mask;
  /** Own tools whose output is meant to be followed. */
  readonly trusted: ReadonlySet<string>;
  readonly log: Log;
  /** Told of the models that may answer a turn whose token has a cap, or that has a budget. */
  onCap(cap: string, chain: readonly Model[]): void;
  /**
   * What is put before the model each turn: identity, missions, skills; and the tools that missions require. Of what a tool
   * of the agent's would tell, nothing where the turn may not use that tool.
   */
  preface(
    user: string,
    allows: (tool: string) => boolean,
  ): Promise<{
    readonly sections: readonly string[];
    readonly requiredTools: readonly string[];
    /** Those sections that only the operator or the user can have written. */
    readonly persons: readonly string[];
  }>;
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

export interface TurnRunner {
  model(): ModelName;
  /** The model for a turn that is about to be opened. Rejects with a `Fault` where its token may not do this here. */
  admit(turn: Turn): Promise<ModelName>;
  open(
    opened: Pick<LedgerTurn, "turn" | "scopes" | "writer"> & { readonly settings: TurnSettings },
    listening: Listening,
  ): OpenRun;
}

export function createTurnRunner(parts: RunnerParts): TurnRunner {
  const { models, prices, spending, mask } = parts;

  return {
    model: () => models.name(),
    async admit(turn) {
      refuseWidening(turn);
      const chosen = turn.thread === undefined ? (turn.model as ModelName | undefined) : undefined;
      if (turn.scope === undefined) return chosen ?? models.name();
      const scopes = scopesOf(turn);
      const chain = await parts.chain(await parts.chosenFor(turn), { scopes, capUsd: undefined });
      const [model] = allowedModels(chain, scopes);
      return model?.name ?? models.name();
    },
    open({ turn, scopes, writer, settings }, { signal, emit, alive, observer }) {
      let usage = NO_USAGE;
      let chain: readonly Model[] = [];

      const notice = (code: string, message: string): void => {
        observer.noticed(code);
        emit({ type: "notice", code, message: redact(mask, message) });
      };

      const count = (model: ModelName, tokens: TokenCount): void => {
        const spent = prices.add(NO_USAGE, model, tokens);
        writer.add((tx) => spending.add(tx, turn.user, spent, scopes));
        observer.spent(model, spent);
        usage = prices.add(usage, model, tokens);
      };

      async function summarise(model: Model, transcript: string): Promise<string> {
        if (model.name.provider === "builtin") return digest(transcript);
        const request: ModelRequest = {
          system: SUMMARY_SYSTEM,
          messages: [{ role: "user", text: transcript }],
          tools: [],
          temperature: undefined,
        };
        notice(
          "summarising",
          "The thread no longer fits the model's context window; summarising the beginning.",
        );
        let text = "";
        try {
          for await (const parts of model.stream(request, signal)) {
            alive();
            for (const part of parts) {
              if (part.type === "text") text += part.delta;
              else if (part.type === "usage") count(model.name, part);
            }
          }
        } catch (error) {
          if (signal.aborted) throw error;
          // The turn matters more than its summary.
          parts.log.warn(`the model could not summarise, using a digest instead: ${reason(error)}`);
          text = "";
        }
        return text.trim() === "" ? digest(transcript) : redact(mask, text);
      }

      // What the caller has sent whole is not shown as a summary.
      const readPast = (summary?: Summary) =>
        parts.context.read(writer, turn.isReplay ? NO_SUMMARY : summary);

      return {
        async begin() {
          const bounds = { scopes, capUsd: settings.dailyUsdCap };
          chain = ableModels(allowedModels(await parts.chain(writer.chosen, bounds), scopes), turn);
          if (scopes.some(({ perDayUsd }) => perDayUsd !== undefined))
            parts.onCap("the daily cap of a token", chain);
          if (turn.budgetUsd !== undefined) parts.onCap("a budget", chain);
          const name = chain[0]?.name ?? models.name();
          writer.setModel(name);
          const { id, thread, after } = writer;
          emit({ type: "started", turn: id, thread, ...(after !== undefined && { after }), model: name });
        },

        async loop(beginning) {
          const required = createRequiredTools(beginning.required);
          required.add(turn.requiredTools ?? []);
          const preface = parts.preface(turn.user, (tool) => allowsTool(scopes, tool));
          const scope = {
            gate: parts.gates(turn, writer, async () => (await preface).persons, settings.provenance),
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
          // All that the store is asked for before the model is, in one go.
          const [toolbox, { sections, requiredTools }, stored] = await Promise.all([
            openToolbox(underRules(parts.sources, settings), scope, (why) => {
              parts.log.warn(`continuing the turn without installed tools: ${why}`);
              notice("tools_unavailable", `The installed tools are not available: ${why}`);
            }),
            preface,
            writer.isFirst ? nothingStored(writer.thread, writer.seq) : readPast(writer.summary),
          ]);
          required.add(requiredTools);
          const choice = createChoice(turn, toolbox);
          const { host } = parts.sources;
          const format = turn.format && createFormat(turn.format, host?.checkJson?.bind(host));
          const once = turn.instructionsOnce ? [redact(mask, turn.instructionsOnce)] : [];
          const compose = createComposer({
            turn,
            items: writer.items,
            system: redact(mask, systemText(new Date(), [...sections, ...toolbox.about])),
            stored,
            context: parts.context,
            mask,
            trusted: parts.trusted,
            once: (model) =>
              format === undefined || format.isKeptBy(model) ? once : [...once, redact(mask, format.words)],
            readAgain: readPast,
            summarise,
          });
          let serving = chain[0];
          let spent = 0;
          const { maxOutputTokens } = turn.generation ?? {};
          const ask = async (besides: readonly ModelMessage[]) => {
            assertWithin(turn.budgetUsd, usage);
            await spending.assertLeft(turn.user, settings.dailyUsdCap, scopes);
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
            return streamSteadily(chain, requestFor, {
              signal,
              notice,
              alive,
              observer,
              onModel: (model) => {
                if (model !== serving) writer.setModel(model.name);
                serving = model;
              },
            });
          };
          const ending = await runLoop({
            writer,
            toolbox,
            mask,
            signal,
            observer,
            maxToolCalls: settings.maxToolCalls,
            together: turn.parallelCalls ?? false,
            unattended: turn.unattended ?? false,
            required,
            pending: beginning.pending,
            approved: beginning.approved,
            refuse: choice.refuse,
            format,
            holdsBack: () => format !== undefined && !format.isKeptBy(serving),
            isSpent: () => maxOutputTokens !== undefined && spent >= maxOutputTokens,
            emit: (event) => {
              alive();
              emit(event);
            },
            ask,
            count: (tokens) => {
              spent += tokens.outputTokens;
              count(serving?.name ?? models.name(), tokens);
            },
          });
          const { gate } = ending;
          if (gate === undefined) return ending;
          const callersToolsWin = turn.callersToolsWin && { callersToolsWin: true };
          return { ...ending, gate: { ...gate, ...(scopes.length > 0 && { scopes }), ...callersToolsWin } };
        },

        usage: () => usage,
        hide: (ending) =>
          ending.error === undefined
            ? ending
            : { ...ending, error: { ...ending.error, message: redact(mask, ending.error.message) } },
      };
    },
  };
}
