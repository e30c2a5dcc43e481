/**
 * The gate between a model and tools without the rest of the service: no store, no socket, so that ten thousand attackers take minutes.
 * A sample of what is tried here is tried in the whole service as well, where the same has to come of it.
 */
import { createMask } from "../../../kernel/kit/secrets.ts";
import { fingerprintOf } from "../../../kernel/kit/tools.ts";
import type { Gate, ToolCall, TurnInput, TurnItem } from "../../../kernel/plugin.ts";
import type { CallRuling, SpokenTurn } from "../../../plugins/agent/services.ts";
import { createTurnGate, type TurnGate } from "../../../plugins/provenance/gate.ts";
import { extend, NOTHING_SAID } from "../../../plugins/provenance/trace.ts";
import { type TestTool, toolInfo } from "../../support/services/agent.ts";
import type { Move } from "./attacker.ts";

type Approval = Extract<Gate, { type: "approval" }>;

const isOwn = (name: string) => name === "plan_steps";
const PLANS = toolInfo("plan_steps", { run: () => ({ status: "ok", output: "" }) });
const parts = {
  settings: { mode: "ask", trusted: new Set<string>() },
  destinations: { covers: async () => () => false, rulesFor: async () => [], use: async () => true },
  mask: createMask(),
} as const;

/** A conversation with an obedient model. Each input goes on until somebody has to answer, or until the model is done. */
export function createConversation(tools: Readonly<Record<string, TestTool>>) {
  const past: SpokenTurn[] = [];
  let moves: Move[] = [];
  let held: ToolCall[] = [];
  let open: Approval | undefined;
  let count = 0;

  return async function say(
    input: TurnInput,
    next: readonly Move[] = [],
  ): Promise<{ gate: Approval | undefined }> {
    const items: TurnItem[] = [];
    const turn = { input, items, files: new Map<string, string>() };
    const gate = openGate(turn);
    if (input.type === "message") {
      items.push({ type: "message", id: `message-${count++}`, role: "user", text: input.text });
      moves = [...next];
    } else if (input.type === "approval" && open) {
      const tool = tools[open.call.name];
      // A yes to a tool that has changed meanwhile is asked for again.
      const isOver = tool !== undefined && fingerprintOf(toolInfo(open.call.name, tool)) !== open.fingerprint;
      const isAgain = isOver && input.decision !== "deny";
      const answered = isAgain ? [] : [open.call, ...(open.others ?? [])];
      held = held.filter(({ id }) => !answered.some((one) => one.id === id));
      for (const call of answered) await finish(call, input.decision !== "deny", items);
    }
    open = await judge(gate, items);
    while (open === undefined && moves.length > 0) {
      held =
        moves.shift()?.calls.map(({ name, arguments: given }) => ({
          ...{ id: `call-${count++}`, name, params: JSON.stringify(given) },
        })) ?? [];
      for (const call of held) items.push({ type: "tool_call", id: call.id, call, external: false });
      open = await judge(gate, items);
    }
    past.push({ ...turn, gate: open });
    return { gate: open };
  };

  function openGate(turn: SpokenTurn): TurnGate {
    const checked = {
      ...turn,
      ...{
        id: "",
        thread: "",
        user: "",
        tree: "",
        unattended: false,
        isReplay: false,
        isOwn,
        isFollowed: () => false,
      },
      installed: new Map(Object.entries(tools).map(([name, tool]) => [name, toolInfo(name, tool)])),
      show: ({ name, description, schema }: ReturnType<typeof toolInfo>) => ({ name, description, schema }),
      persons: async () => [],
      strangers: async () => [],
      above: async () => [],
      past: async () => ({ branch: "", after: 0, turns: [] }),
    };
    return createTurnGate(parts, checked, async () => extend(NOTHING_SAID, [...past, turn], isOwn));
  }

  /** Makes the calls of an answer that need no question, and returns the question about the first of the others. */
  async function judge(gate: TurnGate, items: TurnItem[]): Promise<Approval | undefined> {
    const ruled: { readonly call: ToolCall; readonly ruling: CallRuling }[] = [];
    for (const call of held) {
      const tool = tools[call.name];
      if (tool) ruled.push({ call, ruling: await gate.rule(call, toolInfo(call.name, tool)) });
      else if (isOwn(call.name)) ruled.push({ call, ruling: await gate.rule(call, PLANS, true) });
      else items.push(resultOf(call, { status: "error", code: "unknown_tool", message: "There is none." }));
    }
    const asks = ({ ruling: { doubts, steps } }: (typeof ruled)[number]) => doubts.length > 0 || steps;
    for (const one of ruled) if (!asks(one)) await finish(one.call, one.ruling.refusal === undefined, items);
    const asked = ruled.filter(asks);
    held = asked.map(({ call }) => call);
    const [first] = asked;
    if (first === undefined) return undefined;
    const { call, ruling } = first;
    const tool = tools[call.name];
    const others = asked.filter((one) => one !== first && one.call.name === call.name);
    return {
      ...{ type: "approval", id: `gate-${count++}`, turn: "", thread: "", openedAt: "" },
      ...{ call, grants: [], doubts: [...ruling.doubts] },
      ...(tool && { fingerprint: fingerprintOf(toolInfo(call.name, tool)) }),
      ...(ruling.covers && { covers: ruling.covers() }),
      ...(others.length > 0 && { others: others.map((one) => one.call) }),
    };
  }

  async function finish(call: ToolCall, isAllowed: boolean, items: TurnItem[]): Promise<void> {
    const done = { status: "ok", output: "The user agreed to these steps." } as const;
    const denied = { status: "error", code: "denied", message: "The user said no." } as const;
    const run = tools[call.name]?.run;
    const outcome = isAllowed
      ? ((await run?.(JSON.parse(call.params), undefined, call.params)) ?? done)
      : denied;
    items.push(resultOf(call, outcome));
  }
}

function resultOf(call: ToolCall, outcome: unknown): TurnItem {
  return { type: "tool_result", id: `${call.id}-result`, call: call.id, outcome } as TurnItem;
}
