/** Explains where the values of a stored turn's calls came from. */
import type { Services, ToolInfo, ToolOutcome, TurnItem } from "../../kernel/plugin.ts";
import type { SpokenTurn } from "../agent/services.ts";
import type { ExplainedCall } from "./explained.ts";
import { createTurnGate, type TurnGateParts } from "./gate.ts";
import type { Provenance } from "./services.ts";
import type { ProvenanceSettings } from "./settings.ts";
import type { StoredTraces } from "./stored-trace.ts";
import { extend } from "./trace.ts";

export interface ExplainingParts extends Omit<TurnGateParts, "settings"> {
  settings(): Promise<ProvenanceSettings>;
  readonly stored: StoredTraces;
  readonly threads: Pick<Services["threads"], "checked">;
  /** What is kept of a call; absent where there is no tool host. */
  readonly receipt: Services["toolAdmin"]["receipt"] | undefined;
}

export function createExplaining(parts: ExplainingParts): Provenance {
  const { stored, threads } = parts;

  async function innerCalls(outcome: ToolOutcome | undefined): Promise<ExplainedCall["calls"]> {
    const id = outcome && "receipt" in outcome ? outcome.receipt : undefined;
    const receipt = id === undefined ? undefined : await parts.receipt?.(id);
    return (receipt?.calls ?? []).map(({ status, code = status, ...call }) => ({ ...call, outcome: code }));
  }

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
        const result = resultOf(call.id, turn);
        const doubts = isGated ? [...(await gate.rule(call, tool)).doubts] : [];
        return [
          {
            id: call.id,
            tool: call.name,
            ran: external ? "callers" : isGated ? "gated" : "own",
            outcome: result ? codeOf(result.outcome) : isHeld(call.id, turn) ? "asked" : "none",
            calls: await innerCalls(result?.outcome),
            values: await gate.explain(call, tool),
            doubts,
          },
        ];
      });
      return { turn: turn.id, thread, user, createdAt, calls: (await Promise.all(calls)).flat() };
    },
  };
}

function resultOf(call: string, { items }: SpokenTurn) {
  return items.find(
    (item): item is Extract<TurnItem, { type: "tool_result" }> =>
      item.type === "tool_result" && item.call === call,
  );
}

const codeOf = (outcome: ToolOutcome): string => (outcome.status === "error" ? outcome.code : outcome.status);

function isHeld(call: string, { gate }: SpokenTurn): boolean {
  const held = gate && [gate.call, ...("others" in gate ? (gate.others ?? []) : [])];
  return held?.some(({ id }) => id === call) ?? false;
}

/** Nothing is known of a tool that is gone, so it counts as one that changes things. */
function unknown(name: string): ToolInfo {
  return { name, version: "", description: "", schema: {}, grants: [], writes: true };
}
