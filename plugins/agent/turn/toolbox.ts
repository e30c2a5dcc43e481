/** The tools one turn may call: the agent's own, those of the tool host, and the caller's. */

import {
  type CallTrace,
  type Doubt,
  distinctOrigins,
  fingerprintOf,
  invalidParams,
  isAgentsName,
  type ModelTool,
  TOOL_SEARCH,
  type ToolReceipt,
  type Tools,
  withoutShown,
} from "../../../kernel/kit.ts";
import {
  type CallOutcome,
  type CallRuling,
  type ExternalTool,
  type JsonSchema,
  type OwnOutcome,
  type OwnTool,
  type OwnToolContext,
  reason,
  type ToolCall,
  type ToolInfo,
  type ToolOutcome,
  type TurnCheck,
} from "../../../kernel/plugin.ts";
import { type ApprovalRules, judgeTool, type RememberedApprovals } from "../safety/approvals.ts";
import { ABOUT_FOREIGN, showTool } from "../safety/foreign.ts";
import type { TurnSettings } from "../settings.ts";
import type { Approved } from "../threads/resume.ts";
import { checkCallersArguments, checkOwnArguments } from "./tools/arguments.ts";
import { chooseTools, type Said } from "./tools/offering.ts";
import { searchTool, searchTools } from "./tools/search-tool.ts";
import type { IndexTools } from "./tools/tool-index.ts";

/** With whose words it is, where that is not the tool. */
export type PlannedOutcome = CallOutcome | OwnOutcome;

/** What is to be done with a call. */
export type Plan =
  | { readonly type: "refuse"; readonly outcome: ToolOutcome }
  | {
      readonly type: "run";
      readonly writes: boolean;
      readonly fingerprint?: string;
      run(signal: AbortSignal, trace?: CallTrace): Promise<PlannedOutcome>;
    }
  | {
      readonly type: "ask";
      readonly grants: readonly string[];
      readonly fingerprint?: string;
      /** Values that are not the person's. */
      readonly doubts?: readonly Doubt[];
    }
  | { readonly type: "external" };

export interface Toolbox {
  /** What the system text has to say of them. */
  readonly about: readonly string[];
  /** All that the turn may call, as they are: for a model that follows nobody's orders. */
  readonly all: readonly ModelTool[];
  /**
   * What a model is offered: all, or where ours are too many, those that fit what was said, and `tool_search` for the
   * rest. The agent's own and the caller's are always among them, and those of these names.
   */
  offer(said: Said, named?: ReadonlySet<string>): readonly ModelTool[];
  isExternal(name: string): boolean;
  /** `approved`: the user has just said yes to this very call, of the tool as it was then. */
  plan(call: ToolCall, approved: Approved | undefined): Promise<Plan>;
}

export interface ToolSources {
  /** Those that plugins added to the agent. */
  own(): readonly OwnTool[];
  readonly host: Tools | undefined;
  readonly approvals: RememberedApprovals;
  /** With more tools of ours than this a model is offered those that fit. */
  readonly mostOffered: number;
  readonly index: IndexTools;
}

/** With the rules of one moment. */
export interface ToolboxSources extends ToolSources {
  readonly rules: ApprovalRules;
}

export function underRules(
  sources: ToolSources,
  { approvals }: Pick<TurnSettings, "approvals">,
): ToolboxSources {
  return { ...sources, rules: approvals };
}

// A model that called a tool by a wrong name is told so many of them.
const MAX_NEAR = 5;
const ANY_OBJECT: JsonSchema = { type: "object" };

export async function isReservedName(sources: ToolSources, name: string): Promise<boolean> {
  return isAgentsName(name) || (await toolNames(sources)).includes(name);
}

export async function toolNames({ own, host }: ToolSources): Promise<readonly string[]> {
  return [...own(), { name: TOOL_SEARCH }, ...((await host?.list()) ?? [])].map(({ name }) => name);
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
    /** The checks of its calls, given the tools that there are. Absent where none will be made. */
    checks?(installed: ReadonlyMap<string, ToolInfo>): Promise<readonly TurnCheck[]>;
  },
  onTrouble: (why: string) => void,
): Promise<Toolbox> {
  const found = await sources.host?.list().catch((error: unknown) => onTrouble(reason(error)));
  const listed = found ?? [];
  if (found) await sources.approvals.forgetOthers(scope.user, found);
  const winning = new Set(scope.callersWin ? scope.external.map(({ name }) => name) : []);
  const own = new Map(
    sources
      .own()
      .filter(({ name, needsPerson = false }) => !winning.has(name) && !(needsPerson && scope.unattended))
      .map((tool) => [tool.name, tool] as const),
  );
  const isOwn = (name: string) => !winning.has(name) && (own.has(name) || isAgentsName(name));
  const installed = new Map(
    listed.filter(({ name }) => !winning.has(name) && !isOwn(name)).map((tool) => [tool.name, tool]),
  );
  const external = new Map(
    scope.external
      .filter(({ name }) => !isOwn(name) && !installed.has(name))
      .map((tool) => [tool.name, tool]),
  );
  const checks = await scope.checks?.(installed);
  const context: OwnToolContext = {
    ...scope,
    originsOf: async (text, name) =>
      distinctOrigins(
        (await Promise.all((checks ?? []).map((check) => check.originsOf?.(text, name) ?? []))).flat(),
      ),
  };
  // A call of one that is off, from earlier in the thread, still gets the reason from the host.
  const usable = installed
    .values()
    .filter(({ name, switchedOff }) => switchedOff === undefined && scope.allows(name))
    .toArray();
  const index = sources.index(usable);
  const search = searchTool(index);
  // It finds nothing that the turn may not use.
  if (!winning.has(TOOL_SEARCH)) own.set(TOOL_SEARCH, search);
  const allows = (name: string) => own.get(name) === search || scope.allows(name);
  const agents = own
    .values()
    .filter((tool) => tool !== search && scope.allows(tool.name))
    .toArray();
  const callers: readonly ModelTool[] = external
    .values()
    .map(({ name, description = "", parameters = ANY_OBJECT }) => ({ name, description, schema: parameters }))
    .toArray();
  const all: readonly ModelTool[] = [...agents, ...usable, ...callers];
  const isMany = agents.length + usable.length > sources.mostOffered;

  return {
    all,
    about: usable.some(({ server }) => server !== undefined) ? [ABOUT_FOREIGN] : [],
    offer(said, named = new Set()) {
      // Those that the index knows are the same objects from turn to turn.
      if (!isMany) return [...agents, ...index.tools.values().map(showTool), ...callers];
      const beside = own.has(TOOL_SEARCH) ? [...agents, search] : agents;
      const chosen = chooseTools(index, said, Math.max(0, sources.mostOffered - beside.length));
      const names = new Set([...chosen, ...named]);
      const shown = [...names].flatMap((name) => index.tools.get(name) ?? []).map(showTool);
      return [...beside, ...callers, ...shown];
    },
    isExternal: (name) => external.has(name),
    async plan(call, approved) {
      const mine = own.get(call.name);
      const tool = installed.get(call.name);
      if ((mine || tool) && !allows(call.name))
        return refuse(
          "tool_not_allowed",
          `The token of this conversation may not use the tool ${call.name}. Do not try it again.`,
        );
      if (tool) return planInstalled(sources, { call, tool, caller: scope, approved, checks });
      if (mine === undefined && !external.has(call.name)) {
        const near = isMany ? searchTools(index, { query: call.name, limit: MAX_NEAR }) : undefined;
        const names = (near ?? all.map(({ name }) => name)).join(", ");
        const there = near ? `Nearest are: ${names || "none"}. Others are found with` : "There are:";
        const end = near ? TOOL_SEARCH : names || "none";
        return refuse("unknown_tool", `There is no tool "${call.name}". ${there} ${end}.`);
      }
      const checked = mine ? checkOwnArguments(call.params, mine.schema) : checkCallersArguments(call.params);
      if (!checked.ok) return { type: "refuse", outcome: invalidParams(checked.detail) };
      if (mine === undefined) return { type: "external" };
      const rule = sources.rules.get(mine.name);
      if (rule === "deny")
        return refuse("denied", `The tool ${mine.name} is not allowed here. Do not try it again.`);
      const outcome = mine.refuse?.(checked.value, context);
      if (outcome) return { type: "refuse", outcome };
      const isSettled = (rule === "allow" && !mine.needsPerson) || approved !== undefined;
      const questions = isSettled ? undefined : mine.asks?.(checked.value);
      if (questions !== undefined) return { type: "ask", grants: questions };
      const run = () => mine.run(checked.value, context).catch(failed);
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
    checks,
  }: {
    readonly call: ToolCall;
    readonly tool: ToolInfo;
    readonly caller: { readonly user: string; readonly channel: string };
    readonly approved: Approved | undefined;
    /** Absent where the caller is the person, and nobody else has said anything. */
    readonly checks: readonly TurnCheck[] | undefined;
  },
): Promise<Plan> {
  const fingerprint = fingerprintOf(tool);
  const isApproved = approved?.fingerprint === fingerprint;
  const verdict = judgeTool(tool, rules, await approvals.recall(user, tool));
  if (verdict === "deny")
    return refuse("denied", `The tool ${tool.name} is not allowed here. Do not try it again.`);
  if (approved?.reply !== undefined && !isApproved)
    return refuse("tool_changed", `The tool ${tool.name} changed while its question waited. Call it again.`);
  const { doubts, refusal, ruling } = await ruleBy(checks, call, tool);
  const isHeld = (doubts.length > 0 || refusal !== undefined) && !isApproved;
  // What they approved is theirs by now: the receipt keeps what they were asked.
  const told = isApproved ? approved?.doubts?.map(withoutShown) : undefined;
  if ((verdict === "ask" && !isApproved) || isHeld) {
    // Nobody should be asked to approve a call that would be refused anyway. A host that cannot say so now will then.
    const outcome = await host?.refusal?.(call).catch(() => undefined);
    if (outcome) return { type: "refuse", outcome };
    if (isHeld && refusal) return refuse(refusal.code, refusal.message);
    return { type: "ask", grants: tool.grants, fingerprint, ...(isHeld && { doubts }) };
  }
  return {
    type: "run",
    writes: tool.writes,
    fingerprint,
    async run(signal, trace) {
      const options = {
        user,
        channel,
        signal,
        ...(trace && { trace }),
        ruling: told ? ({ verdict: "approved", doubts: told } as const) : ruling(isApproved),
      };
      const { reply } = approved ?? {};
      const outcome = reply
        ? await host?.resume?.(call, reply.resume, reply.replies, options)
        : await host?.call(call, options);
      return outcome ?? { status: "error", code: "no_tools", message: "The tool host is off." };
    },
  };
}

type Ruling = NonNullable<ToolReceipt["ruling"]>;
const CLEAR: Ruling = { verdict: "clear", doubts: [] };
const UNCHECKED: Ruling = { verdict: "off", doubts: [] };

/** All checks together: what any of them doubts is asked about, and what one refuses is refused. */
async function ruleBy(
  checks: readonly TurnCheck[] | undefined,
  call: ToolCall,
  tool: ToolInfo,
): Promise<CallRuling & Pick<Required<CallRuling>, "ruling">> {
  const rulings = await Promise.all((checks ?? []).map((check) => check.rule(call, tool)));
  const told = rulings.find(({ ruling }) => ruling !== undefined);
  return {
    doubts: rulings.flatMap(({ doubts }) => doubts),
    refusal: rulings.find(({ refusal }) => refusal !== undefined)?.refusal,
    ruling: (isApproved) => told?.ruling?.(isApproved) ?? (checks?.length === 0 ? UNCHECKED : CLEAR),
  };
}

function refuse(code: string, message: string): Plan {
  return { type: "refuse", outcome: { status: "error", code, message } };
}

function failed(error: unknown): ToolOutcome {
  return { status: "error", code: "tool_failed", message: reason(error) };
}
