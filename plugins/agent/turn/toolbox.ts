/** The tools one turn may call: the agent's own, those of the tool host, and the caller's. */
import type {
  CallOutcome,
  ExternalTool,
  JsonSchema,
  ToolCall,
  ToolInfo,
  ToolOutcome,
  Tools,
} from "../../../kernel/plugin.ts";
import { reason } from "../../../kernel/plugin.ts";
import { invalidParams } from "../../../kernel/vocabulary/schema/params.ts";
import { fingerprintOf } from "../../../kernel/vocabulary/tools/fingerprint.ts";
import { reservedPrefix } from "../../../kernel/vocabulary/tools/names.ts";
import type { ModelTool } from "../models/model.ts";
import { type ApprovalRules, judgeTool, type RememberedApprovals } from "../safety/approvals.ts";
import { ABOUT_FOREIGN, showTool } from "../safety/foreign.ts";
import { checkCallersArguments, checkOwnArguments } from "./arguments.ts";
import type { OwnTool, OwnToolContext } from "./own-tool.ts";
import type { Approved } from "./resume.ts";

/** What is to be done with a call. */
export type Plan =
  | { readonly type: "refuse"; readonly outcome: ToolOutcome }
  | {
      readonly type: "run";
      readonly writes: boolean;
      readonly fingerprint?: string;
      run(signal: AbortSignal): Promise<CallOutcome>;
    }
  | { readonly type: "ask"; readonly grants: readonly string[]; readonly fingerprint?: string }
  | { readonly type: "external" };

export interface Toolbox {
  readonly forModel: readonly ModelTool[];
  /** What the system text has to say of them. */
  readonly about: readonly string[];
  isExternal(name: string): boolean;
  /** `approved`: the user has just said yes to this very call, of the tool as it was then. */
  plan(call: ToolCall, approved: Approved | undefined): Promise<Plan>;
}

export interface ToolboxSources {
  readonly own: readonly OwnTool[];
  readonly host: Tools | undefined;
  readonly rules: ApprovalRules;
  readonly approvals: RememberedApprovals;
}

const ANY_OBJECT: JsonSchema = { type: "object" };

export async function isReservedName(sources: ToolboxSources, name: string): Promise<boolean> {
  return reservedPrefix(name) !== undefined || (await toolNames(sources)).includes(name);
}

export async function toolNames({ own, host }: ToolboxSources): Promise<readonly string[]> {
  return [...own, ...((await host?.list()) ?? [])].map(({ name }) => name);
}

/** A host that cannot say what it has costs the turn its installed tools, not its answer. */
export async function openToolbox(
  sources: ToolboxSources,
  scope: OwnToolContext & {
    readonly channel: string;
    readonly external: readonly ExternalTool[];
    readonly callersWin: boolean;
    /** Whether the turn may use this tool of ours. */
    allows(name: string): boolean;
  },
  onTrouble: (why: string) => void,
): Promise<Toolbox> {
  const found = await sources.host?.list().catch((error: unknown) => onTrouble(reason(error)));
  const listed = found ?? [];
  if (found) await sources.approvals.forgetOthers(scope.user, found);
  const winning = new Set(scope.callersWin ? scope.external.map(({ name }) => name) : []);
  const own = new Map(
    sources.own.filter(({ name }) => !winning.has(name)).map((tool) => [tool.name, tool] as const),
  );
  const isOwn = (name: string) => !winning.has(name) && (own.has(name) || reservedPrefix(name) !== undefined);
  const installed = new Map(
    listed.filter(({ name }) => !winning.has(name) && !isOwn(name)).map((tool) => [tool.name, tool]),
  );
  const external = new Map(
    scope.external
      .filter(({ name }) => !isOwn(name) && !installed.has(name))
      .map((tool) => [tool.name, tool]),
  );
  // A call of one that is off, from earlier in the thread, still gets the reason from the host.
  const usable = [...installed.values()].filter(
    ({ name, switchedOff }) => switchedOff === undefined && scope.allows(name),
  );
  const forModel: readonly ModelTool[] = [
    ...own.values().filter(({ name }) => scope.allows(name)),
    ...usable.map(showTool),
    ...external.values().map(({ name, description = "", parameters = ANY_OBJECT }) => ({
      name,
      description,
      schema: parameters,
    })),
  ];

  return {
    forModel,
    about: usable.some(({ server }) => server !== undefined) ? [ABOUT_FOREIGN] : [],
    isExternal: (name) => external.has(name),
    async plan(call, approved) {
      const mine = own.get(call.name);
      const tool = installed.get(call.name);
      if ((mine || tool) && !scope.allows(call.name))
        return refuse(
          "tool_not_allowed",
          `The token of this conversation may not use the tool ${call.name}. Do not try it again.`,
        );
      if (tool) return planInstalled(sources, { call, tool, caller: scope, approved });
      if (mine === undefined && !external.has(call.name)) {
        const names = forModel.map(({ name }) => name).join(", ");
        return refuse("unknown_tool", `There is no tool "${call.name}". There are: ${names || "none"}.`);
      }
      const checked = mine ? checkOwnArguments(call.params, mine.schema) : checkCallersArguments(call.params);
      if (!checked.ok) return { type: "refuse", outcome: invalidParams(checked.detail) };
      if (mine === undefined) return { type: "external" };
      const rule = sources.rules.get(mine.name);
      if (rule === "deny")
        return refuse("denied", `The tool ${mine.name} is not allowed here. Do not try it again.`);
      const isSettled = rule === "allow" || approved !== undefined;
      const questions = isSettled ? undefined : mine.asks?.(checked.value);
      if (questions !== undefined) return { type: "ask", grants: questions };
      const run = () => mine.run(checked.value, scope).catch(failed);
      return { type: "run", writes: false, run };
    },
  };
}

/** What is to be done with a call of an installed tool. */
export async function planInstalled(
  { host, rules, approvals }: ToolboxSources,
  {
    call,
    tool,
    caller: { user, channel },
    approved,
  }: {
    readonly call: ToolCall;
    readonly tool: ToolInfo;
    readonly caller: { readonly user: string; readonly channel: string };
    readonly approved: Approved | undefined;
  },
): Promise<Plan> {
  const fingerprint = fingerprintOf(tool);
  const isApproved = approved?.fingerprint === fingerprint;
  const verdict = judgeTool(tool, rules, await approvals.recall(user, tool));
  if (verdict === "deny")
    return refuse("denied", `The tool ${tool.name} is not allowed here. Do not try it again.`);
  if (approved?.reply !== undefined && !isApproved)
    return refuse("tool_changed", `The tool ${tool.name} changed while its question waited. Call it again.`);
  if (verdict === "ask" && !isApproved) {
    // Nobody should be asked to approve a call that would be refused anyway. A host that cannot say so now will then.
    const outcome = await host?.refusal?.(call).catch(() => undefined);
    return outcome ? { type: "refuse", outcome } : { type: "ask", grants: tool.grants, fingerprint };
  }
  return {
    type: "run",
    writes: tool.writes,
    fingerprint,
    async run(signal) {
      const options = { user, channel, signal };
      const { reply } = approved ?? {};
      const outcome = reply
        ? await host?.resume?.(call, reply.resume, reply.replies, options)
        : await host?.call(call, options);
      return outcome ?? { status: "error", code: "no_tools", message: "The tool host is off." };
    },
  };
}

function refuse(code: string, message: string): Plan {
  return { type: "refuse", outcome: { status: "error", code, message } };
}

function failed(error: unknown): ToolOutcome {
  return { status: "error", code: "tool_failed", message: reason(error) };
}
