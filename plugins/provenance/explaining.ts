/** Explains where the values of a stored turn's calls came from. */
import type { ExplainedCall, SpokenTurn } from "../../kernel/kit.ts";
import type { Services, ToolInfo, TurnItem } from "../../kernel/plugin.ts";
import { createTurnGate, type TurnGateParts } from "./gate.ts";
import type { Provenance } from "./services.ts";
import type { ProvenanceSettings } from "./settings.ts";
import type { StoredTraces } from "./stored-trace.ts";
import { extend } from "./trace.ts";

export interface ExplainingParts extends Omit<TurnGateParts, "settings"> {
  settings(): Promise<ProvenanceSettings>;
  readonly stored: StoredTraces;
  readonly threads: Pick<Services["threads"], "checked">;
}

export function createExplaining(parts: ExplainingParts): Provenance {
  const { stored, threads } = parts;
  return {
    async explain(id) {
      const turn = await threads.checked(id);
      if (turn === undefined) return undefined;
      const [past, settings] = await Promise.all([stored.read(turn), parts.settings()]);
      const { items, isOwn, installed, thread, user, createdAt } = turn;
      const calls = items.map(async (item, at): Promise<readonly ExplainedCall[]> => {
        if (item.type !== "tool_call") return [];
        const { call, external } = item;
        const before = { ...turn, items: items.slice(0, at) };
        const gate = createTurnGate({ ...parts, settings }, turn, async () => extend(past, [before], isOwn));
        const isGated = !external && !isOwn(call.name);
        const tool = installed.get(call.name) ?? unknown(call.name);
        return [
          {
            id: call.id,
            tool: call.name,
            ran: external ? "callers" : isGated ? "gated" : "own",
            outcome: outcomeOf(call.id, turn),
            values: await gate.explain(call, tool),
            doubts: isGated ? [...(await gate.rule(call, tool)).doubts] : [],
          },
        ];
      });
      return { turn: turn.id, thread, user, createdAt, calls: (await Promise.all(calls)).flat() };
    },
  };
}

function outcomeOf(call: string, { items, gate }: SpokenTurn): string {
  const result = items.find(
    (item): item is Extract<TurnItem, { type: "tool_result" }> =>
      item.type === "tool_result" && item.call === call,
  );
  if (result) return result.outcome.status === "error" ? result.outcome.code : result.outcome.status;
  const held = gate && [gate.call, ...("others" in gate ? (gate.others ?? []) : [])];
  return held?.some(({ id }) => id === call) ? "asked" : "none";
}

/** Nothing is known of a tool that is gone, so it counts as one that changes things. */
function unknown(name: string): ToolInfo {
  return { name, version: "", description: "", schema: {}, grants: [], writes: true };
}
