/** Gives each turn its provenance gate: what is stored of its conversation is read once, when the first call needs it. */
import type { ToolInfo, Turn } from "../../../../kernel/plugin.ts";
import type { TurnWriter } from "../../turn/writing/writer.ts";
import { createTurnGate, type TurnGate, type TurnGateParts } from "./gate.ts";
import { type StoredTraces, textOf } from "./stored-trace.ts";
import { extend, NOTHING_SAID, type Trace } from "./trace.ts";

export type TurnGates = (
  turn: Turn,
  writer: Pick<TurnWriter, "thread" | "seq" | "isBranched" | "isFirst" | "items">,
  persons: () => Promise<readonly string[]>,
) => (installed: ReadonlyMap<string, ToolInfo>) => TurnGate;

export function createTurnGates(
  parts: TurnGateParts & { readonly stored: StoredTraces; isOwn(tool: string): boolean },
): TurnGates {
  const { stored, isOwn } = parts;
  return (turn, writer, persons) => {
    const { user, input, instructions, context, outside, instructionsOnce } = turn;
    const files = new Map((turn.attached ?? []).map(({ id, data }) => [id, textOf(data)]));
    let past: Promise<Trace> | undefined;
    const trace = async (): Promise<Trace> => {
      past ??= writer.isFirst ? Promise.resolve(NOTHING_SAID) : stored.read(writer);
      const present = { input, instructions, context, outside, files, items: writer.items };
      const now = extend(await past, [present], isOwn);
      return instructionsOnce ? { ...now, said: [...now.said, instructionsOnce] } : now;
    };
    return (installed) => createTurnGate(parts, { user, installed, trace, persons });
  };
}
