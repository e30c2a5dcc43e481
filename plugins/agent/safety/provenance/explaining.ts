/** Explains where the values of a stored turn's calls came from. */
import type { ExplainedCall } from "../../../../kernel/kit.ts";
import type { Provenance, ToolInfo, Tools, TurnItem } from "../../../../kernel/plugin.ts";
import { createTurnGate, type ProvenanceSettings, type TurnGateParts } from "./gate.ts";
import type { StoredTraces } from "./stored-trace.ts";
import { extend, type TracedTurn } from "./trace.ts";

export interface ExplainingParts extends Omit<TurnGateParts, "settings"> {
  settings(): Promise<ProvenanceSettings>;
  readonly stored: StoredTraces;
  readonly tools: Pick<Tools, "list"> | undefined;
  isOwn(tool: string): boolean;
  /** The operator's files for this user. */
  persons(user: string): Promise<readonly string[]>;
}

export function createExplaining(parts: ExplainingParts): Provenance {
  const { stored, tools, isOwn, persons } = parts;
  return {
    async explain(id) {
      const found = await stored.find(id);
      if (found === undefined) return undefined;
      const { past, present, user } = found;
      const [listed = [], settings] = await Promise.all([tools?.list(), parts.settings()]);
      const installed = new Map(listed.map((tool) => [tool.name, tool]));
      const calls = present.items.map(async (item, at): Promise<readonly ExplainedCall[]> => {
        if (item.type !== "tool_call") return [];
        const { call, external } = item;
        const before = { ...present, items: present.items.slice(0, at) };
        const gate = createTurnGate(
          { ...parts, settings },
          {
            user,
            installed,
            trace: async () => extend(past, [before], isOwn),
            persons: () => persons(user),
          },
        );
        const isGated = !external && !isOwn(call.name);
        const tool = installed.get(call.name) ?? unknown(call.name);
        return [
          {
            id: call.id,
            tool: call.name,
            ran: external ? "callers" : isGated ? "gated" : "own",
            outcome: outcomeOf(call.id, present),
            values: await gate.explain(call, tool),
            doubts: isGated ? [...(await gate.rule(call, tool)).doubts] : [],
          },
        ];
      });
      const { turn, thread, createdAt } = found;
      return { turn, thread, user, createdAt, calls: (await Promise.all(calls)).flat() };
    },
  };
}

function outcomeOf(call: string, { items, gate }: TracedTurn): string {
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
