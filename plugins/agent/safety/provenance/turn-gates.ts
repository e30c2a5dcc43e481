/** Gives each turn its provenance gate. The stored conversation is read once, when the first call needs it. */
import type { ToolInfo, Turn } from "../../../../kernel/plugin.ts";
import type { TurnWriter } from "../../turn/writing/writer.ts";
import { createTurnGate, type ProvenanceSettings, type TurnGate, type TurnGateParts } from "./gate.ts";
import { type StoredTraces, textOf } from "./stored-trace.ts";
import { extend, NOTHING_SAID, type Trace } from "./trace.ts";

export type TurnGates = (
  turn: Turn,
  writer: Pick<TurnWriter, "thread" | "seq" | "isBranched" | "isFirst" | "items">,
  persons: () => Promise<readonly string[]>,
  settings: ProvenanceSettings,
) => (installed: ReadonlyMap<string, ToolInfo>) => TurnGate;

export function createTurnGates(
  parts: Omit<TurnGateParts, "settings"> & { readonly stored: StoredTraces; isOwn(tool: string): boolean },
): TurnGates {
  const { stored, isOwn } = parts;
  return (turn, writer, persons, settings) => {
    const { user, input, instructions, context, outside, instructionsOnce } = turn;
    const files = new Map((turn.attached ?? []).map(({ id, data, text }) => [id, textOf(text ?? data)]));
    // A routine says the same at every run and means it each time.
    const asPast = (read: Trace): Trace =>
      turn.unattended
        ? { ...read, entries: read.entries.map((entry) => ({ ...entry, isPast: true })) }
        : read;
    let past: Promise<Trace> | undefined;
    const trace = async (): Promise<Trace> => {
      past ??= writer.isFirst ? Promise.resolve(NOTHING_SAID) : stored.read(writer).then(asPast);
      const present = { input, instructions, context, outside, files, items: writer.items };
      const now = extend(await past, [present], isOwn);
      return instructionsOnce ? { ...now, said: [...now.said, instructionsOnce] } : now;
    };
    return (installed) => createTurnGate({ ...parts, settings }, { user, installed, trace, persons });
  };
}
