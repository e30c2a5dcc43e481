/** The tools one turn may call: the agent's own, those of the tool host, and the caller's. */
import type { CallOptions, CallOutcome, Tools } from "../../../host/services.ts";
import {
  type Check,
  compileCheck,
  invalidParams,
  judgeParams,
  type ParamsVerdict,
} from "../../../kernel/kit/schema.ts";
import { tryJson } from "../../../kernel/kit/text.ts";
import { type CallWords, fingerprintOf, isAgentsName, TOOL_SEARCH } from "../../../kernel/kit/tools.ts";
import {
  type Doubt,
  distinctOrigins,
  type Origin,
  type PlannedStep,
  type RuleOffer,
} from "../../../kernel/kit/turns.ts";
import {
  Fault,
  type JsonSchema,
  type ToolCall,
  type ToolInfo,
  type ToolOutcome,
} from "../../../kernel/plugin.ts";
import type { ModelTool } from "../../models/services.ts";
import { type ApprovalRules, judgeTool, type RememberedApprovals } from "../safety/approvals.ts";
import { ABOUT_FOREIGN, showTool } from "../safety/foreign.ts";
import type {
  BecomingCall,
  CallRuling,
  Delegating,
  ExternalTool,
  OwnOutcome,
  OwnTool,
  OwnToolContext,
  TurnCheck,
} from "../services.ts";
import type { TurnSettings } from "../settings.ts";
import { callersReason } from "../threads/end.ts";
import type { Approved } from "../threads/resume.ts";
import { type CallRecords, notRepeated, type RecordedCall } from "../threads/writing/call-records.ts";
import { chooseTools, type Said } from "./tools/choice.ts";
import { searchTool, searchTools } from "./tools/search-tool.ts";
import type { IndexTools } from "./tools/tool-index.ts";

export type PlannedOutcome = CallOutcome | OwnOutcome;

/** What a call is made with besides. */
export type CallWithin = Pick<CallOptions, "trace" | "parent" | "innerCall" | "mounted" | "onPreparing">;

export type Plan =
  | { readonly type: "refuse"; readonly outcome: ToolOutcome }
  | {
      readonly type: "run";
      readonly writes: boolean;
      readonly fingerprint?: string;
      run(signal: AbortSignal, within?: CallWithin): Promise<PlannedOutcome>;
    }
  | {
      readonly type: "ask";
      readonly grants: readonly string[];
      readonly fingerprint?: string;
      /** Values that are not the person's. */
      readonly doubts?: readonly Doubt[];
      readonly covers?: string | undefined;
      readonly steps?: readonly PlannedStep[];
      readonly offer?: RuleOffer | undefined;
    }
  | { readonly type: "external" };

export type Toolbox = Awaited<ReturnType<typeof openToolbox>>;

export interface ToolSources {
  own(): readonly OwnTool[];
  readonly host: Tools | undefined;
  readonly approvals: RememberedApprovals;
  /** With more tools of ours than this a model is offered those that fit. */
  readonly mostOffered: number;
  readonly index: IndexTools;
}

/** With the rules of one moment. */
interface ToolboxSources extends ToolSources {
  readonly rules: ApprovalRules;
}

export function underRules(sources: ToolSources, { approvals }: TurnSettings): ToolboxSources {
  return { ...sources, rules: approvals };
}

/** A server that came back, or a plugin that was loaded again, must not change what a request begins with. */
const byName = (one: { readonly name: string }, other: { readonly name: string }) =>
  one.name < other.name ? -1 : 1;

// A model that called a tool by a wrong name is told so many of them.
const MAX_NEAR = 5;
const ANY_OBJECT: JsonSchema = { type: "object" };

/** Which of the shipped tools is made ready now, counted from one; undefined once they are. */
export type OnWait = (at?: number, of?: number) => void;

/** The installed tools, the shipped ones among them: on a fresh home they take a moment. */
export async function listInstalled(
  host: Tools | undefined,
  user?: string,
  onWait?: OnWait,
): Promise<readonly ToolInfo[] | undefined> {
  let waits = false;
  await host?.ready?.((at, of) => {
    waits = true;
    onWait?.(at, of);
  });
  if (waits) onWait?.();
  return host?.list(user);
}

/** A call of one that is off or not set up could only be refused. */
export const isUsable = ({ switchedOff, needs }: ToolInfo): boolean =>
  switchedOff === undefined && needs?.isOffered !== false;

/** A host that cannot say what it has costs the turn its installed tools, not its answer. */
export async function openToolbox(
  sources: ToolboxSources,
  scope: Omit<OwnToolContext, "delegating"> & {
    readonly delegating?: Omit<Delegating, "call">;
    readonly channel: string;
    readonly isTalk?: boolean;
    readonly records?: CallRecords | undefined;
    readonly external: readonly ExternalTool[];
    readonly callersWin: boolean;
    allows(name: string): boolean;
    /** False for what the rest of the turn may not use any more, whatever it was allowed. */
    stays?(name: string): boolean;
    /** The checks of its calls, given the tools that there are. Absent where none will be made. */
    checks?(installed: ReadonlyMap<string, ToolInfo>): Promise<readonly TurnCheck[]>;
  },
  tell: { onTrouble(why: string): void; onWait?: OnWait },
) {
  const found = await listInstalled(sources.host, scope.user, tell.onWait).catch((error: unknown) =>
    tell.onTrouble(callersReason(error)),
  );
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
  const contextOf = ({ id: call }: ToolCall): OwnToolContext => ({
    ...scope,
    delegating: scope.delegating && { ...scope.delegating, call },
    originsOf: async (text, name) =>
      distinctOrigins(
        (await Promise.all((checks ?? []).map((check) => check.originsOf?.(text, name) ?? []))).flat(),
      ),
  });
  // A call of one that is not usable, from earlier in the thread, still gets the reason from the host.
  const usable = installed
    .values()
    .filter((tool) => isUsable(tool) && scope.allows(tool.name))
    .toArray()
    .sort(byName);
  const index = sources.index(usable);
  const search = searchTool(index);
  // It finds nothing that the turn may not use.
  if (!winning.has(TOOL_SEARCH)) own.set(TOOL_SEARCH, search);
  const allows = (name: string) => own.get(name) === search || scope.allows(name);
  const mayUse = own
    .values()
    .filter((tool) => tool !== search && scope.allows(tool.name))
    .toArray();
  const changing = usable.filter(({ writes }) => writes);
  const remembered = changing.length > 0 ? await sources.approvals.remembered(scope.user) : {};
  const changes = changing.some((tool) => judgeTool(tool, sources.rules, remembered[tool.name]) === "allow");
  const offered = { ...scope, changes };
  const isOffered = await Promise.all(mayUse.map((tool) => tool.isOffered?.(offered) ?? true));
  const agents = mayUse.filter((_, at) => isOffered[at]).sort(byName);
  const callers: readonly ModelTool[] = external
    .values()
    .map(({ name, description = "", parameters = ANY_OBJECT }) => ({ name, description, schema: parameters }))
    .toArray();
  const all: readonly ModelTool[] = [...agents, ...usable, ...callers];
  const stays = (name: string) => scope.stays?.(name) ?? true;
  const left = (tools: readonly ModelTool[]) => tools.filter(({ name }) => stays(name));
  const isMany = agents.length + usable.length > sources.mostOffered;

  /** What the tool says counts as its own, although the call was one of ours. */
  async function planBecoming(
    call: ToolCall,
    becoming: BecomingCall | ToolOutcome,
    approved: Approved | undefined,
  ): Promise<Plan> {
    if ("status" in becoming) return { type: "refuse", outcome: becoming };
    const { tool: name, params, mounted } = becoming;
    const tool = usable.find((one) => one.name === name);
    if (tool === undefined) return refuse("no_such_tool", `This needs the tool ${name}, which is not there.`);
    const planned = { call: { id: call.id, name, params }, tool, caller: scope, approved, checks };
    const plan = await planInstalled(sources, planned);
    if (plan.type !== "run") return plan;
    return {
      ...plan,
      async run(signal, within) {
        const outcome = await plan.run(signal, { ...within, mounted });
        if (outcome.status === "question") return outcome;
        const { origins = [] } = { origins: undefined, ...outcome };
        return { ...outcome, origins: distinctOrigins([{ kind: "tool", name }, ...origins]) };
      },
    };
  }

  return {
    /** All that the turn may call, as they are: for a model that follows nobody's orders. */
    all,
    /** Sentences about them for the system text. */
    about: usable.some(({ server }) => server !== undefined) ? [ABOUT_FOREIGN] : [],
    /**
     * Returns the tools that a model is offered: all, or where ours are too many, those that fit what was said, and `tool_search` for
     * the rest. The agent's own tools, the caller's, and those of these names are always among them.
     */
    offer(said: Said, named: ReadonlySet<string> = new Set()): readonly ModelTool[] {
      // Those that the index knows are the same objects from turn to turn.
      if (!isMany) return left([...agents, ...index.tools.values().map(showTool), ...callers]);
      const beside = own.has(TOOL_SEARCH) ? [...agents, search] : agents;
      const chosen = chooseTools(index, said, Math.max(0, sources.mostOffered - beside.length));
      const names = new Set([...chosen, ...named]);
      const shown = [...names].flatMap((name) => index.tools.get(name) ?? []).map(showTool);
      return left([...beside, ...callers, ...shown]);
    },
    /** How calls of a tool read; undefined where it does not say. */
    words: (name: string): CallWords | undefined => (own.get(name) ?? installed.get(name))?.words,
    isExternal: (name: string) => external.has(name),
    /** A call that was made inside of another has answered. Returns whose words that is. */
    hear: (call: ToolCall, outcome: ToolOutcome, origins: readonly Origin[]): readonly Origin[] =>
      (checks ?? []).flatMap((check) => check.hear?.(call, outcome, origins) ?? []),
    /** `approved`: the user has just said yes to this very call. `isInner`: it is made inside of another. */
    async plan(call: ToolCall, approved: Approved | undefined, isInner = false): Promise<Plan> {
      const mine = own.get(call.name);
      const tool = installed.get(call.name);
      if ((mine || tool) && !allows(call.name))
        return refuse(
          "tool_not_allowed",
          `The token of this conversation may not use the tool ${call.name}. Do not try it again.`,
        );
      if (!stays(call.name))
        return refuse(
          "tool_not_allowed",
          `The skill that this turn follows does not allow the tool ${call.name}. Do not try it again.`,
        );
      if (tool) return planInstalled(sources, { call, tool, caller: scope, approved, checks });
      if (mine === undefined && !external.has(call.name)) {
        const near = isMany ? searchTools(index, { query: call.name, limit: MAX_NEAR }) : undefined;
        const names = (near ?? all.map(({ name }) => name)).join(", ");
        const there = near ? `Nearest are: ${names || "none"}. Others are found with` : "There are:";
        const end = near ? TOOL_SEARCH : names || "none";
        return refuse("unknown_tool", `There is no tool "${call.name}". ${there} ${end}.`);
      }
      // The schema of a caller's function is the caller's to check: references that fan out or a pattern that backtracks
      // would stop everybody in this process.
      const checked = checkArguments(call.params, mine?.schema ?? ANY_OBJECT);
      if (!checked.ok) return { type: "refuse", outcome: invalidParams(checked.detail) };
      if (mine === undefined) return { type: "external" };
      if (isInner && mine.effect !== "reads")
        return refuse(
          "not_allowed",
          `${mine.name} cannot be called from inside of another call. Call it openly.`,
        );
      const rule = sources.rules.get(mine.name);
      if (rule === "deny") return denied(mine.name);
      const context = { ...contextOf(call), isApproved: approved !== undefined };
      const outcome = mine.refuse?.(checked.value, context);
      if (outcome) return { type: "refuse", outcome };
      const isSettled = (rule === "allow" && !mine.needsPerson && !mine.asksAnyway) || approved !== undefined;
      const asking = isSettled ? undefined : await askFirst(mine, checked.value, context);
      if (asking) return asking;
      const held = approved === undefined ? await holdOwn(checks, call, mine) : undefined;
      if (held) return held;
      if (mine.becomes) return planBecoming(call, await mine.becomes(checked.value, context), approved);
      const recorded = mine.effect === "recorded" ? scope.records?.call(mine.name, checked.value) : undefined;
      const run = () =>
        recorded
          ? runRecorded(mine, checked.value, context, recorded)
          : mine.run(checked.value, context).catch(failed);
      // A plugin in plain JavaScript may not say what its tool does.
      const writes = mine.effect !== "reads" && mine.effect !== "repeatable" && recorded === undefined;
      return { type: "run", writes, run };
    },
  };
}

/** Does nothing that an earlier attempt of the job has done. Throws, which ends the turn, where that cannot be told. */
async function runRecorded(
  tool: OwnTool,
  params: unknown,
  context: OwnToolContext,
  { find, failed: noteFailure, forget, record }: RecordedCall,
): Promise<OwnOutcome> {
  const earlier = await find();
  const outcome = earlier && (earlier.outcome ?? (await tool.found?.(earlier.note, params, context)));
  if (earlier && outcome === undefined) throw notRepeated([earlier.row]);
  if (outcome !== undefined && outcome !== "undone") return outcome;
  if (earlier) await forget(earlier.row);
  const made = await tool.run(params, { ...context, record }).catch(failed);
  if (made.status !== "ok") noteFailure();
  return made;
}

async function askFirst(tool: OwnTool, params: unknown, context: OwnToolContext): Promise<Plan | undefined> {
  try {
    const grants = await tool.asks?.(params, context);
    return grants && { type: "ask", grants };
  } catch (error) {
    if (error instanceof Fault) return refuse(error.code, error.message);
    return { type: "refuse", outcome: failed(error) };
  }
}

const compiled = new WeakMap<JsonSchema, Check>();

/** Checks arguments against a schema of ours. Those of installed tools are checked by the host. */
function checkArguments(params: string, schema: JsonSchema): ParamsVerdict {
  const check = compiled.get(schema) ?? compileCheck(schema);
  compiled.set(schema, check);
  return judgeParams(params, (value) => check(value));
}

/** Plans a call of an installed tool. */
export async function planInstalled(
  { host, rules, approvals }: ToolboxSources,
  planned: {
    readonly call: ToolCall;
    readonly tool: ToolInfo;
    readonly caller: {
      readonly user: string;
      readonly channel: string;
      readonly thread?: string;
      readonly turn?: string;
    };
    readonly approved: Approved | undefined;
    /** Absent where the caller is the person, and nobody else has said anything. */
    readonly checks: readonly TurnCheck[] | undefined;
  },
): Promise<Plan> {
  const { tool, caller, approved, checks } = planned;
  const call = asRead(planned.call);
  const { user, channel, thread, turn } = caller;
  const fingerprint = fingerprintOf(tool);
  const isApproved = approved?.fingerprint === fingerprint;
  // Both are begun at once, so that the calls of one answer are ruled on in their order, however long the store takes.
  const [remembered, ruled] = await Promise.all([
    approvals.recall(user, tool),
    ruleBy(checks, planned.call, tool),
  ]);
  const verdict = judgeTool(tool, rules, remembered);
  if (verdict === "deny") return denied(tool.name);
  if (approved?.reply !== undefined && !isApproved)
    return refuse("tool_changed", `The tool ${tool.name} changed while its question waited. Call it again.`);
  const { doubts, refusal, ruling, checkAddress, covers, offer } = ruled;
  const isHeld = (doubts.length > 0 || refusal !== undefined) && !isApproved;
  // Approved values count as the person's own by now, so the receipt keeps what they were asked.
  const told = isApproved ? approved?.doubts?.map(withoutShown) : undefined;
  if ((verdict === "ask" && !isApproved) || isHeld) {
    // Nobody should be asked to approve a call that would be refused anyway. A host that cannot say so now will then.
    const outcome = await host?.refusal?.(call, user).catch(() => undefined);
    if (outcome) return { type: "refuse", outcome };
    if (isHeld && refusal) return refuse(refusal.code, refusal.message);
    return {
      type: "ask",
      grants: tool.grants,
      fingerprint,
      doubts: isHeld ? doubts : undefined,
      offer: isHeld ? offer : undefined,
      covers: covers?.(),
    };
  }
  return {
    type: "run",
    writes: tool.writes,
    fingerprint,
    async run(signal, within) {
      const known = told ? ({ verdict: "approved", doubts: told } as const) : ruling(isApproved);
      const options = {
        ...{ user, channel, thread, turn, signal, ...within, ruling: known },
        ...(checkAddress && { checkAddress }),
      };
      const { reply } = approved ?? {};
      const outcome = reply
        ? await host?.resume?.(call, reply.resume, reply.replies, options)
        : await host?.call(call, options);
      return outcome ?? { status: "error", code: "no_tools", message: "The tool host is off." };
    },
  };
}

/** The tool is given what was judged: another reader could read the same text differently. */
function asRead(call: ToolCall): ToolCall {
  const params = tryJson(call.params);
  return params === undefined ? call : { ...call, params: JSON.stringify(params) };
}

type Ruling = NonNullable<CallOptions["ruling"]>;
const CLEAR: Ruling = { verdict: "clear", doubts: [] };
const UNCHECKED: Ruling = { verdict: "off", doubts: [] };

/** All checks together: what any of them doubts is asked about, and what one refuses is refused. */
async function ruleBy(
  checks: readonly TurnCheck[] | undefined,
  call: ToolCall,
  tool: ToolInfo,
  isOwn = false,
): Promise<CallRuling & Pick<Required<CallRuling>, "ruling">> {
  const rulings = await Promise.all((checks ?? []).map((check) => check.rule(call, tool, isOwn)));
  const told = rulings.find(({ ruling }) => ruling !== undefined);
  return {
    doubts: rulings.flatMap(({ doubts }) => doubts),
    refusal: rulings.find(({ refusal }) => refusal !== undefined)?.refusal,
    checkAddress: rulings.find((one) => one.checkAddress !== undefined)?.checkAddress,
    steps: rulings.find((one) => one.steps !== undefined)?.steps,
    offer: rulings.find((one) => one.offer !== undefined)?.offer,
    covers: rulings.find((one) => one.covers !== undefined)?.covers,
    ruling: (isApproved) => told?.ruling?.(isApproved) ?? (checks?.length === 0 ? UNCHECKED : CLEAR),
  };
}

/** An own tool that deletes, or plans such calls, asks first even if it is allowed, unless the person requested it. */
async function holdOwn(
  checks: readonly TurnCheck[] | undefined,
  call: ToolCall,
  { name, description, schema, judged }: OwnTool,
): Promise<Plan | undefined> {
  if (judged === undefined) return undefined;
  const tool = {
    name,
    version: "",
    description,
    schema,
    grants: [],
    writes: true,
    hosts: [],
    params: judged,
  };
  const { doubts, refusal, steps, covers } = await ruleBy(checks, call, tool, true);
  if (refusal) return refuse(refusal.code, refusal.message);
  if (steps) return { type: "ask", grants: [], steps, covers: covers?.() };
  return doubts.length === 0 ? undefined : { type: "ask", grants: [], doubts };
}

function denied(tool: string): Plan {
  return refuse("denied", `The tool ${tool} is not allowed here. Do not try it again.`);
}

function refuse(code: string, message: string): Plan {
  return { type: "refuse", outcome: { status: "error", code, message } };
}

function failed(error: unknown): ToolOutcome {
  return { status: "error", code: "tool_failed", message: callersReason(error) };
}

/** For a receipt, which keeps no values: a doubt that a person was shown, without what it was about. */
function withoutShown({
  excerpt: _,
  headline: _question,
  value,
  part = "",
  sentence,
  ...doubt
}: Doubt): Doubt {
  const hide = (text: string, shown: string) => (shown === "" ? text : text.replaceAll(shown, "…"));
  return { ...doubt, value: "", sentence: hide(hide(sentence, value), part) };
}
