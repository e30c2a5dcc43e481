/** Calls that a channel makes itself: no model, no thread, and the same rules as in a turn. */

import { type Caller, fingerprintOf } from "../../../kernel/kit.ts";
import type { ToolInfo } from "../../../kernel/plugin.ts";
import { judgeTool } from "../safety/approvals.ts";
import { allowsTool } from "../safety/scope.ts";
import type { ToolCalls } from "../services.ts";
import type { TurnSettings } from "../settings.ts";
import type { Ledger } from "../threads/ledger.ts";
import type { Approved } from "../threads/resume.ts";
import { isReservedName, planInstalled, type ToolSources, toolNames, underRules } from "./toolbox.ts";

type Outcome = Awaited<ReturnType<ToolCalls["call"]>>;

/** `thread`: a thread of a user, where there is one. */
export function createToolCalls(
  sources: ToolSources,
  settings: () => Promise<TurnSettings>,
  thread: Ledger["thread"],
): ToolCalls {
  const { host, approvals } = sources;
  const mayUse = ({ scope }: Caller, { name }: ToolInfo) => allowsTool(scope ? [scope] : [], name);

  async function run(
    call: Parameters<ToolCalls["call"]>[0],
    caller: Caller,
    approved: Approved | undefined,
    signal = new AbortController().signal,
  ): Promise<Outcome> {
    const tool = (await host?.list())?.find(({ name }) => name === call.name);
    if (tool === undefined || !mayUse(caller, tool))
      return { status: "error", code: "unknown_tool", message: `There is no tool "${call.name}".` };
    const ruled = underRules(sources, await settings());
    const plan = await planInstalled(ruled, { call, tool, caller, approved, checks: undefined });
    switch (plan.type) {
      case "refuse":
        return plan.outcome;
      case "ask":
        return { status: "ask", grants: plan.grants, fingerprint: plan.fingerprint ?? "" };
      case "run":
        return plan.run(signal);
      case "external":
        throw new Error("an installed tool is never the caller's");
    }
  }

  return {
    isReserved: (tool) => isReservedName(sources, tool),
    names: () => toolNames(sources),
    async pending(user, id) {
      const gate = (await thread(user, id))?.gate;
      return gate?.type === "external_tool" ? gate : undefined;
    },
    async list(caller) {
      const [tools = [], { approvals: rules }] = await Promise.all([host?.list(), settings()]);
      const judged = await Promise.all(
        tools
          .filter((tool) => tool.switchedOff === undefined && mayUse(caller, tool))
          .map(async (tool) => ({
            tool,
            verdict: judgeTool(tool, rules, await approvals.recall(caller.user, tool)),
          })),
      );
      return judged
        .filter(({ verdict }) => verdict !== "deny")
        .map(({ tool, verdict }) => ({ ...tool, asks: verdict === "ask" }));
    },
    call: (call, caller, { signal, approved }) =>
      run(
        call,
        caller,
        approved === undefined ? undefined : { calls: [call], fingerprint: approved },
        signal,
      ),
    async resume(call, resume, replies, caller, { signal }) {
      const tool = (await host?.list())?.find(({ name }) => name === call.name);
      const reply = { resume, replies };
      const fingerprint = tool && fingerprintOf(tool);
      const outcome = await run(call, caller, { calls: [call], fingerprint, reply }, signal);
      if (outcome.status === "ask") throw new Error("a call that has begun is not asked about again");
      return outcome;
    },
  };
}
