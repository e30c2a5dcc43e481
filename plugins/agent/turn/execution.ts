/** One open turn, run to its end: the end is stored first, and told then. */
import { Fault, type Log, type TurnEvent, type TurnRecord } from "../../../kernel/plugin.ts";
import type { Observers } from "../live/observer.ts";
import type { TurnStream } from "../live/stream.ts";
import type { TurnSettings } from "../settings.ts";
import { type Ending, endingOf, unstoredEnding, withoutQuestion } from "../threads/ending.ts";
import type { Ledger, LedgerTurn } from "../threads/ledger.ts";
import { gatePending } from "../threads/resume.ts";
import type { Saving } from "../threads/writing/saving.ts";
import type { TurnRunner } from "./runner.ts";

export interface OpenTurn extends LedgerTurn {
  readonly stream: TurnStream;
  readonly stopper: AbortController;
}

export interface ExecutionParts {
  readonly ledger: Ledger;
  readonly runner: TurnRunner;
  readonly log: Log;
  readonly observers: Observers;
  /** What a turn that begins now is held to. */
  settings(): Promise<TurnSettings>;
}

/** What the agent does about the turns that run. */
interface Surroundings {
  readonly saving: Saving;
  emit(open: OpenTurn, event: TurnEvent): void;
  /** Its end is stored, or will be; it is told next. */
  ended(open: OpenTurn): void;
  /** All is told. The next turn of its thread waits on that node. */
  wakeNext(thread: string, node: string): void;
}

export function createExecution(
  { ledger, runner, log, observers, settings: currentSettings }: ExecutionParts,
  { saving, emit, ended, wakeNext }: Surroundings,
): (open: OpenTurn) => Promise<void> {
  async function close(
    open: OpenTurn,
    ending: Ending,
    running: ReturnType<TurnRunner["open"]>,
  ): Promise<TurnRecord> {
    const { writer } = open;
    const usage = running.usage();
    let final = running.hide(ending);
    let next: string | undefined;
    try {
      next = await writer.finish(final, usage);
    } catch (error) {
      log.error({ error, turn: writer.id, thread: writer.thread }, "a turn could not be stored, retrying");
      const unstored = final.error === undefined ? unstoredEnding(error) : final;
      if (!(await saving.keepTrying(writer, unstored, usage))) {
        final = unstored;
        writer.assume(final, usage);
      }
    }
    ended(open);
    const record = writer.record();
    // Told when it is stored: a person who hears of a gate may answer it at once.
    if (record.gate !== undefined) emit(open, { type: "gate", gate: record.gate });
    if (usage.inputTokens + usage.outputTokens > 0) emit(open, { type: "usage", usage });
    if (final.status === "failed") {
      const { code, message } = final.error ?? { code: "failed", message: "The turn failed." };
      emit(open, { type: "failed", code, message, record });
    } else emit(open, { type: "done", status: final.status, record });
    if (next !== undefined) wakeNext(writer.thread, next);
    return record;
  }

  return async (open) => {
    const { turn, beginning, scopes, writer, stopper } = open;
    const observer = observers.turn(turn, writer);
    const settings = await currentSettings();
    // A turn may take as long as it needs while something happens; this much silence ends it.
    const { turnIdleSecs: idleSecs } = settings;
    const idle = setTimeout(
      () =>
        stopper.abort(
          new Fault("turn", "turn_timeout", `Nothing happened for ${idleSecs} s, so the turn was stopped.`),
        ),
      idleSecs * 1000,
    );
    const running = runner.open(
      { turn, scopes, writer, settings },
      {
        signal: stopper.signal,
        emit: (event) => emit(open, event),
        alive: () => void idle.refresh(),
        observer,
      },
    );
    let ending: Ending;
    try {
      await running.begin();
      stopper.signal.throwIfAborted();
      // A message that waited in line may find that the turn before it has opened a gate.
      const isLate = open.hasToWait && turn.input.type === "message";
      const gate = isLate ? (await ledger.thread(turn.user, writer.thread))?.gate : undefined;
      if (gate && (turn.after === undefined || turn.after === gate.turn)) throw gatePending(gate);
      if (beginning.items.length > 0) await writer.put(...beginning.items);
      ending = withoutQuestion(turn, await running.loop(beginning));
    } catch (error) {
      ending = endingOf(error, stopper.signal, log);
    }
    clearTimeout(idle);
    observer.ended(await close(open, ending, running));
  };
}
