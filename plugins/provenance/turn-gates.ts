/** Gives each turn its provenance gate: what is stored of its conversation is read once, when the first call needs it. */
import type { CheckedTurn } from "../../kernel/plugin.ts";
import { createTurnGate, type TurnGate, type TurnGateParts } from "./gate.ts";
import type { StoredTraces } from "./stored-trace.ts";
import { extend, type Trace } from "./trace.ts";

export function openTurnGate(turn: CheckedTurn, stored: StoredTraces, parts: TurnGateParts): TurnGate {
  // A routine says the same at every run, and means it again.
  const asPast = (read: Trace): Trace =>
    turn.unattended ? { ...read, entries: read.entries.map((entry) => ({ ...entry, isPast: true })) } : read;
  let past: Promise<Trace> | undefined;
  const trace = async (): Promise<Trace> => {
    past ??= stored.read(turn).then(asPast);
    const now = extend(await past, [turn], turn.isOwn);
    return turn.instructionsOnce ? { ...now, said: [...now.said, turn.instructionsOnce] } : now;
  };
  return createTurnGate(parts, turn, trace);
}
