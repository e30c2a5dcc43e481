/** Calls that a channel makes itself: no model, no thread, and the same rules as in a turn. */

import { fingerprintOf, isAgentsName, TOOL_SEARCH } from "../../../kernel/kit/tools.ts";
import type { ToolCall, ToolInfo } from "../../../kernel/plugin.ts";
import { judgeTool } from "../safety/approvals.ts";
import { allowsTool } from "../safety/scope.ts";
import type { Caller, ToolCalls } from "../services.ts";
import type { TurnSettings } from "../settings.ts";
import type { Ledger } from "../threads/ledger.ts";
import type { Approved } from "../threads/resume.ts";
import { createInnerCalls } from "./inner-calls.ts";
import {
  isUsable,
  listInstalled,
  type Plan,
  planInstalled,
  type ToolSources,
  underRules,
} from "./toolbox.ts";

type Outcome = Awaited<ReturnType<ToolCalls["call"]>>;

/** `thread`: a thread of a user, where there is one. */
export function createToolCalls(
  sources: ToolSources,
  settings: () => Promise<TurnSettings>,
  thread: Ledger["thread"],
): ToolCalls {
  const { host, approvals } = sources;
  const mayUse = ({ scope }: Caller, { name }: ToolInfo) => allowsTool(scope ? [scope] : [], name);

  const names = async () =>
    [...sources.own(), { name: TOOL_SEARCH }, ...((await listInstalled(host)) ?? [])].map(({ name }) => name);

  async function planFor(call: ToolCall, caller: Caller, approved: Approved | undefined): Promise<Plan> {
    const tool = (await listInstalled(host, caller.user))?.find(({ name }) => name === call.name);
    if (tool === undefined || !mayUse(caller, tool)) {
      const message = `There is no tool "${call.name}".`;
      return { type: "refuse", outcome: { status: "error", code: "unknown_tool", message } };
    }
    const ruled = underRules(sources, await settings());
    return planInstalled(ruled, { call, tool, caller, approved, checks: undefined });
  }

  async function run(
    call: ToolCall,
    caller: Caller,
    approved: Approved | undefined,
    signal = new AbortController().signal,
  ): Promise<Outcome> {
    const plan = await planFor(call, caller, approved);
    switch (plan.type) {
      case "refuse":
        return plan.outcome;
      case "ask":
        return { status: "ask", grants: plan.grants, fingerprint: plan.fingerprint ?? "" };
      case "run":
        return plan.run(signal, { innerCall: innerCalls(caller) });
      case "external":
        throw new Error("an installed tool is never the caller's");
    }
  }

  /** What a caller's code calls is the caller's own call, too. */
  const innerCalls = (caller: Caller) =>
    createInnerCalls({
      plan: (call) => planFor(call, caller, undefined),
      run: (_, plan, { parent, signal }) => plan.run(signal, { parent }),
      hear: () => [],
      hide: (text) => text,
    });

  return {
    isReserved: async (tool) => isAgentsName(tool) || (await names()).includes(tool),
    names,
    async pending(user, id) {
      const gate = (await thread(user, id))?.gate;
      return gate?.type === "external_tool" ? gate : undefined;
    },
    async list(caller) {
      const [tools = [], { approvals: rules }] = await Promise.all([
        listInstalled(host, caller.user),
        settings(),
      ]);
      const usable = tools.filter((tool) => isUsable(tool) && mayUse(caller, tool));
      const judged = await Promise.all(
        usable.map(async (tool) => {
          const verdict = judgeTool(tool, rules, await approvals.recall(caller.user, tool));
          return verdict === "deny" ? [] : [{ ...tool, asks: verdict === "ask" }];
        }),
      );
      return judged.flat();
    },
    call(call, caller, { signal, approved: fingerprint }) {
      const approved = fingerprint === undefined ? undefined : { calls: [call], fingerprint };
      return run(call, caller, approved, signal);
    },
    async resume(call, resume, replies, caller, { signal }) {
      const tool = (await listInstalled(host, caller.user))?.find(({ name }) => name === call.name);
      const reply = { resume, replies };
      const fingerprint = tool && fingerprintOf(tool);
      const outcome = await run(call, caller, { calls: [call], fingerprint, reply }, signal);
      if (outcome.status === "ask") throw new Error("a call that has begun is not asked about again");
      return outcome;
    },
  };
}
