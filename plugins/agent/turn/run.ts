/** Runs one open turn to its end: opens its bill, chooses its models, gathers its tools and its history, and loops. */
import { redact } from "../../../kernel/kit/secrets.ts";
import { countedUsd } from "../../../kernel/kit/turns.ts";
import {
  Fault,
  type Log,
  type Mask,
  type Queries,
  type Services,
  type TurnEvent,
  type Usage,
} from "../../../kernel/plugin.ts";
import type { Model } from "../../models/services.ts";
import { type Context, nothingStored } from "../context/window.ts";
import type { Extensions, TurnPreface } from "../extensions.ts";
import type { Observers, TurnObserver } from "../live/observer.ts";
import { allowsTool } from "../safety/scope.ts";
import type { TurnSettings } from "../settings.ts";
import { type Ending, endingOf, withoutQuestion } from "../threads/end.ts";
import type { Ledger, LedgerTurn } from "../threads/ledger.ts";
import { createRequiredTools, type RequiredTools } from "../threads/required-tools.ts";
import { gatePending } from "../threads/resume.ts";
import type { RunningWriter } from "../threads/writing/writer.ts";
import { createChoice } from "./answer/choice.ts";
import { createFormat } from "./answer/format.ts";
import { ableModels } from "./answer/inputs.ts";
import { type Bill, createBill } from "./bill.ts";
import { checkedTurn } from "./checked-turn.ts";
import { runLoop } from "./loop.ts";
import { createModelRequests, type Run, readPast } from "./model-requests.ts";
import { openToolbox, type Toolbox, type ToolSources, underRules } from "./toolbox.ts";

export interface RunParts {
  readonly ledger: Pick<Ledger, "thread">;
  readonly models: Services["models"];
  readonly observers: Observers;
  readonly sql: Queries;
  readonly context: Context;
  readonly sources: ToolSources;
  readonly extensions: Extensions;
  readonly mask: Mask;
  readonly log: Log;
  /** What the turn has in place of its tools, if it must not call them. */
  replaceTools?(toolbox: Toolbox): Toolbox;
}

interface RunnableTurn extends LedgerTurn<RunningWriter> {
  readonly stopper: AbortController;
}

export interface RanTurn {
  readonly ending: Ending;
  /** What the turn itself used. */
  readonly usage: Usage;
  readonly observer: TurnObserver;
}

/** Never rejects: what goes wrong is how the turn ends. */
export async function runTurn(
  parts: RunParts,
  open: RunnableTurn,
  settings: TurnSettings,
  emit: (event: TurnEvent) => void,
): Promise<RanTurn> {
  const { turn, writer, stopper } = open;
  const { signal } = stopper;
  const observer = parts.observers.turn(turn, writer);
  const bill = createBill(parts.models, open, observer);
  // A turn may take as long as it needs while something happens; this much silence ends it.
  const { turnIdleSecs: idleSecs } = settings;
  const silence = `Nothing happened for ${idleSecs} s, so the turn was stopped.`;
  const idle = setTimeout(() => stopper.abort(new Fault("turn", "turn_timeout", silence)), idleSecs * 1000);
  const run: Run = {
    ...open,
    ...{ settings, bill, observer, signal },
    alive: () => void idle.refresh(),
    emit(event) {
      idle.refresh();
      emit(event);
    },
    notice(code, message) {
      observer.noticed(code);
      run.emit({ type: "notice", code, message: redact(parts.mask, message) });
    },
  };
  let ending: Ending;
  try {
    const chain = await begin(parts, run);
    signal.throwIfAborted();
    await refuseLate(parts, run);
    if (run.beginning.items.length > 0) await writer.put(...run.beginning.items);
    ending = withoutQuestion(turn, await answer(parts, run, chain));
  } catch (error) {
    ending = endingOf(error, signal, parts.log);
  }
  clearTimeout(idle);
  return { ending: told(ending, bill, parts.mask), usage: bill.own(), observer };
}

/** Says that it starts, and with which model. Returns the models to try, best first. */
async function begin({ models }: RunParts, { turn, scopes, writer, bill, emit }: Run) {
  await bill.open();
  const chain = ableModels(await models.chain(writer.chosen, scopes), turn);
  const model = chain[0]?.name ?? models.name();
  writer.setModel(model);
  emit({ type: "started", turn: writer.id, thread: writer.thread, after: writer.after, model });
  return chain;
}

/** A message that waited in line may find that the turn before it has opened a gate. */
async function refuseLate({ ledger }: RunParts, { turn, writer, hasToWait }: Run): Promise<void> {
  if (!hasToWait || turn.input.type !== "message") return;
  const gate = (await ledger.thread(turn.user, writer.thread))?.gate;
  if (gate && (turn.after === undefined || turn.after === gate.turn)) throw gatePending(gate);
}

async function answer(parts: RunParts, run: Run, chain: readonly Model[]): Promise<Ending> {
  const { turn, scopes, writer, beginning, bill, signal, observer, emit } = run;
  const required = createRequiredTools(beginning.required);
  required.add(turn.answer?.requiredTools ?? []);
  const preface = parts.extensions.preface(turn.user, (tool) => allowsTool(scopes, tool));
  // All that the store is asked for before the model is, in one go.
  const [tools, { sections, topics, requiredTools }, stored] = await Promise.all([
    openTools(parts, run, required, preface),
    preface,
    writer.isFirst ? nothingStored(writer.thread, writer.seq) : readPast(parts, run, writer.summary),
  ]);
  const toolbox = parts.replaceTools?.(tools) ?? tools;
  required.add(requiredTools);
  const choice = createChoice(turn.answer, toolbox);
  const { host } = parts.sources;
  const asked = turn.answer?.format;
  const format = asked && createFormat(asked, host?.checkJson?.bind(host));
  const { ask, count, holdsBack } = await createModelRequests(parts, run, {
    ...{ chain, stored, toolbox, choice, format, required },
    sections: [...sections, ...toolbox.about],
    topics,
  });
  async function listen(): Promise<void> {
    if (!turn.work?.steers || chain[0]?.answersLastOnly) return;
    for (const { id: message, text, attachments } of await writer.take(scopes))
      emit({ type: "taken", turn: writer.id, message, text, attachments });
  }
  const ending = await runLoop({
    listen,
    ...{ writer, toolbox, signal, observer, required, format, emit, ask, count, holdsBack },
    mask: parts.mask,
    maxToolCalls: run.settings.maxToolCalls,
    together: turn.answer?.parallelCalls ?? false,
    unattended: turn.work?.unattended ?? false,
    addUsage: bill.addOthers,
    pending: beginning.pending,
    approved: beginning.approved,
    refuse: choice.refuse,
    isSpent: () => bill.left() <= 0,
  });
  const { gate } = ending;
  if (gate === undefined) return ending;
  const task = turn.work?.task;
  const callersToolsWin = turn.answer?.callersToolsWin && { callersToolsWin: true };
  const bound = { ...(scopes.length > 0 && { scopes }), ...(task && { task }) };
  return { ...ending, gate: { ...gate, ...bound, ...callersToolsWin } };
}

function openTools(
  parts: RunParts,
  { turn, scopes, writer, settings, bill, signal, alive, notice }: Run,
  required: RequiredTools,
  preface: Promise<TurnPreface>,
): Promise<Toolbox> {
  const { unattended = false, task, job, budgetUsd } = turn.work ?? {};
  const checked = checkedTurn(parts, turn, writer, preface);
  const scope = {
    checks: (installed: Parameters<typeof checked>[0]) => parts.extensions.check(checked(installed)),
    user: turn.user,
    channel: turn.channel,
    thread: writer.thread,
    turn: writer.id,
    records: writer.records,
    external: turn.answer?.tools ?? [],
    callersWin: turn.answer?.callersToolsWin ?? false,
    allows: (tool: string) => allowsTool(scopes, tool),
    require: required.add,
    narrow: required.narrow,
    stays: required.allows,
    unattended,
    isTalk: turn.answer?.truncation === undefined,
    isScoped: scopes.length > 0,
    delegating: {
      ...{ task, job, budgetUsd },
      ...{ scopes, signal, alive, notice },
      spentUsd: () => countedUsd(bill.own()),
    },
    signal,
  };
  return openToolbox(underRules(parts.sources, settings), scope, {
    onTrouble: (why) => {
      parts.log.warn(`continuing the turn without installed tools: ${why}`);
      notice("tools_unavailable", `The installed tools are not available: ${why}`);
    },
    onWait: (at, of) =>
      at === undefined
        ? notice("tools_ready", "The tools are ready.")
        : notice("tools_getting_ready", `Preparing tools ${at}/${of}`),
  });
}

/** The ending with all that was used for it, and without a secret that an error may have quoted. */
function told(given: Ending, bill: Bill, mask: Mask): Ending {
  const ending = { ...given, total: bill.total() };
  if (ending.error === undefined) return ending;
  return { ...ending, error: { ...ending.error, message: redact(mask, ending.error.message) } };
}
