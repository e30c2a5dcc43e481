/** The provenance gate of a turn: finds the values of a call that are neither the person's nor what they pointed to. */

import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { createMutex } from "../../kernel/kit/concurrency.ts";
import { sayRule } from "../../kernel/kit/display.ts";
import { redact } from "../../kernel/kit/secrets.ts";
import { tryJson, visibleLine } from "../../kernel/kit/text.ts";
import { fingerprintOf } from "../../kernel/kit/tools.ts";
import { type Doubt, distinctOrigins, type PlannedStep } from "../../kernel/kit/turns.ts";
import { foldedWords } from "../../kernel/kit/words.ts";
import type { Mask, Origin, ToolCall, ToolInfo, ToolOutcome, TurnItem } from "../../kernel/plugin.ts";
import type { CallRuling, CheckedTurn, SpokenTurn, TurnCheck } from "../agent/services.ts";
import type { Consent } from "./call/carried-consent.ts";
import type { Grounds } from "./call/grounds.ts";
import { createLeakBudget, type LeakBudget } from "./call/leak-budget.ts";
import { offerFor, type Use, usesOf } from "./call/param-rules.ts";
import { leavesOf } from "./call/param-values.ts";
import {
  isCovered,
  isGivenBefore,
  leavesOfStep,
  nameIn,
  PLAN_TOOL,
  type Step,
  sayReferences,
  stepFor,
  stepsOf,
} from "./call/plan.ts";
import { isPlace } from "./call/read-check.ts";
import { takesAway } from "./call/requested-action.ts";
import { isOwnAddress, repeatsWordsOf } from "./call/web-address.ts";
import type { KnownDestinations } from "./destinations.ts";
import type { ExplainedValue } from "./explained.ts";
import { linksGiven, MAX_FOLLOWED } from "./links.ts";
import { sourceOf } from "./outputs/search.ts";
import { hear, type Said } from "./person/utterances.ts";
import {
  approvedIn,
  type Called,
  type Heard,
  isPersons,
  type Doubt as Judged,
  judge,
  judgeAction,
  MAX_DOUBTS,
} from "./ruling.ts";
import {
  ASKED_LATER,
  bound,
  describe,
  describeFlow,
  type Found,
  GIVEN_BY_STEP,
  refusalOf,
  shortOrigin,
  shownName,
  tellWhose,
  titleOf,
  type Whose as WhoseValue,
  withoutValue,
} from "./sentences.ts";
import type { ProvenanceSettings } from "./settings.ts";
import {
  heardIn,
  isOutside,
  narrow,
  ownerOfTool,
  readsAnyPage,
  type Source,
  type Sources,
  sourcesOf,
  strangersWords,
  type Whose,
} from "./sources.ts";
import type { StoredTraces } from "./stored-trace.ts";
import { after, extend, NOTHING_SAID, type Trace } from "./trace.ts";
import requests from "./words/requests.json" with { type: "json" };

export interface TurnGate extends Required<TurnCheck> {
  /** Tells where each of its values came from, and by which rule a call that was ruled on just before needs no question. */
  explain(call: ToolCall, tool: ToolInfo): Promise<ExplainedValue[]>;
}

export interface TurnGateParts {
  readonly settings: ProvenanceSettings;
  readonly destinations: Pick<KnownDestinations, "covers" | "rulesFor" | "use">;
  readonly mask: Mask;
}

/** What a turn and its tasks have carried out in small values, and how many links they have followed. */
interface TreeCount {
  readonly budget: LeakBudget;
  followed: number;
}

const MAX_TREES = 10_000;
const newCount = (): TreeCount => ({ budget: createLeakBudget(), followed: 0 });

/** Returns the count of each tree of tasks, so that a task does not begin anew. */
export function createTreeCounts(): (tree: string) => TreeCount {
  const counts = new LRUCache<string, TreeCount>({ max: MAX_TREES });
  return (tree) => {
    const count = counts.get(tree) ?? newCount();
    counts.set(tree, count);
    return count;
  };
}

/** Gives a turn its gate: what is stored of its conversation is read once, when the first call needs it. */
export function openTurnGate(
  turn: CheckedTurn,
  stored: StoredTraces,
  parts: TurnGateParts,
  count = newCount(),
): TurnGate {
  // A routine says the same at every run, and means it again.
  const asPast = (read: Trace): Trace =>
    turn.unattended ? { ...read, entries: read.entries.map((entry) => ({ ...entry, isPast: true })) } : read;
  let past: Promise<Trace> | undefined;
  const trace = async (): Promise<Trace> => {
    past ??= Promise.all([turn.above(), stored.read(turn)]).then(([above, read]) =>
      asPast(after(extend(NOTHING_SAID, above, turn.isOwn), read)),
    );
    const now = extend(await past, [turn], turn.isOwn);
    return turn.instructionsOnce ? { ...now, said: [...now.said, turn.instructionsOnce] } : now;
  };
  return createTurnGate(parts, turn, trace, count);
}

/** The ruling where nothing of others was read before the call. */
const CLEAR: CallRuling = { doubts: [], ruling: () => ({ verdict: "clear", doubts: [] }) };
const OFF: CallRuling = { doubts: [], ruling: () => ({ verdict: "off", doubts: [] }) };

interface Finding extends Pick<CallRuling, "checkAddress" | "offer"> {
  readonly found: readonly Found[];
}

const NOTHING_FOUND: Finding = { found: [] };

/** `trace`: the conversation up to now. */
export function createTurnGate(
  { settings, destinations, mask }: TurnGateParts,
  {
    user,
    unattended,
    isReplay,
    installed,
    persons,
    strangers,
    isFollowed,
    show,
    isOwn: isAgents,
  }: CheckedTurn,
  trace: () => Promise<Trace>,
  count = newCount(),
): TurnGate {
  const whose: Whose = { installed, trusted: settings.trusted, isFollowed, show };
  const hearOnce = createHearing();
  // The calls of one answer are judged before any of them has run, and the second is still the second.
  const made: Heard[] = [];
  /** The calls that were made inside of others, and what they said. */
  const inner: TurnItem[] = [];
  let innerLength = 0;
  /** Of the last call that was judged. */
  let grounds: Grounds | undefined;
  let trusted: readonly string[] = [];
  let used: readonly Use[] = [];
  // Calls of one answer count in their order, however long the store takes for each.
  const inOrder = createMutex();
  /** The calls that were judged, for the same reason. */
  const begun: { readonly tool: string; readonly params: unknown }[] = [];

  async function look(): Promise<Sources> {
    const [traced, own, others] = await Promise.all([trace(), persons(), strangers()]);
    const sources = sourcesOf(extend(traced, [spoken(inner)], isAgents), whose);
    return {
      ...sources,
      known: [...own, ...sources.known],
      heard: [...others.map(strangersWords), ...sources.heard],
    };
  }

  /** A yes reaches the tools of the same owner, and holds while all of them are as they were. */
  const coveredBy = (tool: ToolInfo): string => {
    const owner = ownerOfTool(tool);
    return digestOf([...installed.values()].filter((other) => ownerOfTool(other) === owner));
  };

  /** Only what the person has answered in this turn, at tools of this owner that are still as they were, and the calls after it. */
  function consentAt(
    owner: string,
    called: ToolInfo,
    { approved, begin, heard }: Sources,
    plannedAt?: number,
  ): Consent | undefined {
    const answered = approved.flatMap(({ tool: name, fingerprint, covers, params, at }) => {
      const tool = installed.get(name);
      if (at < begin || !tool?.writes || fingerprint !== fingerprintOf(tool)) return [];
      const isReached = ownerOfTool(tool) === ownerOfTool(called) && ownerOfTool(tool, params) === owner;
      if (!isReached || covers !== coveredBy(tool)) return [];
      return [{ at, schema: tool.schema, roles: tool.params, params }];
    });
    // What the steps before it made is theirs as well, and the code for it.
    const since = Math.min(...answered.map(({ at }) => at), plannedAt ?? Number.POSITIVE_INFINITY);
    const made = heard.flatMap(({ at = -1, made: tool, owner: who, text, asked }) =>
      tool !== undefined && at >= since && who === owner
        ? [{ at, tool: tool.server?.tool ?? tool.name, text, asked }]
        : [],
    );
    return Number.isFinite(since) ? { approved: answered, made } : undefined;
  }

  const toolsOf = (steps: readonly Step[]): readonly ToolInfo[] =>
    [...new Set(steps.map(({ tool }) => tool))].flatMap((name) => installed.get(name) ?? []);

  /** The step of a plan, agreed to in this turn, that the call is; none where one of the plan's tools has changed since. */
  function plannedBy(tool: ToolInfo, params: unknown, { approved, begin, heard, called }: Sources) {
    const owner = ownerOfTool(tool, params);
    for (const { tool: name, covers, params: plan, at } of approved) {
      if (name !== PLAN_TOOL || !isAgents(name) || at < begin) continue;
      const steps = stepsOf(plan);
      if (covers !== digestOf(toolsOf(steps))) continue;
      const made = heard.flatMap((one) =>
        one.made !== undefined && (one.at ?? -1) >= at ? [{ ...one, tool: one.made, at: one.at ?? -1 }] : [],
      );
      const over = [...begun, ...called.filter((one) => one.at >= at)];
      const found = stepFor({ tool, owner, params }, { steps, made, begun: over, heard });
      if (found) return { ...found, at };
    }
    return undefined;
  }

  function calledBy(call: ToolCall, tool: ToolInfo, sources: Sources): Called {
    const { approved } = sources;
    const fingerprint = fingerprintOf(tool);
    const params = tryJson(call.params);
    const owner = ownerOfTool(tool, params);
    const planned = plannedBy(tool, params, sources);
    const isSame = (one: Trace["approved"][number]) =>
      one.tool === call.name && one.fingerprint === fingerprint;
    return {
      approved: approved.filter(isSame).map(({ params }) => params),
      name: tool.server?.tool ?? call.name,
      schema: tool.schema,
      params,
      writes: tool.writes,
      isOutside: isOutside(tool, whose),
      owner,
      consent: consentAt(owner, tool, sources, planned?.at),
      planned: planned?.covered,
      roles: tool.params,
    };
  }

  /** The links that a tool for any page may follow, and whether it may go to an address by the word of the operator or the user. */
  async function findLinks(heard: readonly Source[], words: Said, tool: ToolInfo) {
    const readers = [tool, ...heard.flatMap(({ lookup }) => lookup ?? [])].filter(readsAnyPage);
    const names = [...new Set(readers.map(({ name }) => name))];
    const known = new Map(
      await Promise.all(names.map(async (name) => [name, await destinations.covers(user, name)] as const)),
    );
    const isTrusted = (name: string, address: string) => known.get(name)?.(address) ?? false;
    const given = linksGiven(heard, words, isTrusted);
    return {
      given,
      isFree: (address: string) => given.has(address) || isOwnAddress(address, words),
      isTrusted: (address: string) => isTrusted(tool.name, address),
    };
  }

  /** What rules of the person allow in a call; nothing in one that takes something away. */
  async function ruledIn(called: Called, tool: ToolInfo, heard: readonly Source[]): Promise<readonly Use[]> {
    if (heard.length === 0 || !tool.writes || !installed.has(tool.name) || takesAway(called)) return [];
    return usesOf(await destinations.rulesFor(user, tool), leavesOf(called), heard);
  }

  async function find(call: ToolCall, tool: ToolInfo, isOwn: boolean): Promise<Finding> {
    const sources = await look();
    const { said, known, heard } = sources;
    const isWeb = readsAnyPage(tool);
    const whys: Grounds = new Map();
    grounds = whys;
    if (heard.length === 0 && !isOwn && !isWeb) return NOTHING_FOUND;
    // A page or file that was read says more to a person than the output of a call.
    const last = heard.findLast(({ place }) => place !== undefined) ?? heard.at(-1);
    const words = hearOnce(said, known);
    const links = isWeb ? await findLinks(heard, words, tool) : undefined;
    const called = calledBy(call, tool, sources);
    let isFollowing = false;
    const isGiven = (address: string) => {
      const is = count.followed < MAX_FOLLOWED && links?.given.has(address) === true;
      isFollowing ||= is;
      return is;
    };
    const isFirst = heard.length === 0;
    const judgeBy = (uses: readonly Use[]) => {
      whys.clear();
      if (isFirst && !isWeb) return judgeAction(called, words);
      const all = isFirst ? [] : [...heard, ...made];
      return judge({ ...called, uses, ...(isWeb && { isGiven }) }, words, all, count.budget, whys);
    };
    const uses = await ruledIn(called, tool, heard);
    let doubts = judgeBy(uses);
    used = uses.filter(({ places }) => places.values().some((at) => whys.get(at) === "rule"));
    if (used.length > 0) {
      const isKnown = await destinations.covers(user, call.name);
      const isOpen = doubts.some(({ rule, value }) => rule !== "destination" || !isKnown(String(value)));
      if (!isOpen && !isReplay && !(await destinations.use(user, call.name, used))) doubts = judgeBy([]);
    }
    if (isFollowing && doubts.length === 0) count.followed++;
    begun.push({ tool: call.name, params: called.params });
    made.push({ owner: called.owner, tool: called.name, text: "", asked: called.params });
    const twice: Judged = { rule: "destination", name: "params", value: "…", source: undefined };
    const found = [...doubts, ...(repeatsName(call.params) ? [twice] : [])].map(
      ({ rule, name, value, source, part }): Found => {
        const who = heard.find((one) => one === source);
        return {
          tool: call.name,
          server: tool.server,
          rule,
          param: name,
          value: String(value),
          source: who && narrow(who, part ?? String(value)),
          last,
          part,
          isOverLimit: rule === "destination" && links?.given.has(String(value)),
        };
      },
    );
    const isOffered = !unattended && tool.writes && installed.has(tool.name) && !takesAway(called);
    const leaves = leavesOf(called);
    const inDoubt = leaves.filter((leaf) =>
      doubts.some(({ name, value }) => leaf.name === name && leaf.value === value),
    );
    return {
      found,
      checkAddress: links && redirectsOf(addressesIn(called), links),
      offer:
        isOffered && doubts.every(({ name }) => name !== "") ? offerFor(inDoubt, leaves, words) : undefined,
    };
  }

  /** Judges the steps of a plan as if they were called now. Where one would ask, the person is asked about all of them together. */
  async function rulePlan(params: unknown): Promise<CallRuling> {
    const steps = stepsOf(params);
    const sources = await look();
    const wrong = steps.findIndex(({ tool }) => installed.get(tool)?.writes !== true);
    if (wrong !== -1) return { ...CLEAR, refusal: notInPlan(wrong, steps[wrong]?.tool ?? "") };
    if (JSON.stringify(params).length > MAX_PLAN_LENGTH) return { ...CLEAR, refusal: TOO_LONG };
    if (sources.heard.length === 0 || settings.mode === "deny") return CLEAR;
    const words = hearOnce(sources.said, sources.known);
    const judged = await Promise.all(
      steps.map(async (step, at) => {
        const tool = installed.get(step.tool) as ToolInfo;
        const call = { id: "", name: step.tool, params: JSON.stringify(step.params) };
        const isKnown = await destinations.covers(user, step.tool);
        const called = { ...calledBy(call, tool, sources), planned: undefined };
        const judgeBy = (uses: readonly Use[]) =>
          judge({ ...called, uses }, words, sources.heard).filter(
            ({ rule, value }) => rule !== "destination" || !isKnown(String(value)),
          );
        // What a rule allows is shown as not theirs all the same, if they are asked about anything.
        const doubts = judgeBy([]);
        const isAsked = doubts.length > 0 && judgeBy(await ruledIn(called, tool, sources.heard)).length > 0;
        const isUnasked = [...doubts, ...judgeAction(called, words)].some(({ name }) => name === "");
        return { isAsked, step: tellStep(step, at, tool, doubts, isUnasked, sources.heard) };
      }),
    );
    if (!judged.some(({ isAsked }) => isAsked)) return CLEAR;
    return {
      ...CLEAR,
      steps: judged.map(({ step }) => step),
      covers: () => digestOf(toolsOf(steps)),
    };
  }

  function tellStep(
    step: Step,
    at: number,
    tool: ToolInfo,
    doubts: readonly Judged[],
    isUnasked: boolean,
    heard: readonly Source[],
  ): PlannedStep {
    const text = (shown: string) => redact(mask, shown);
    const owner = ownerOfTool(tool);
    const owned = heard.filter((one) => one.owner === owner && !one.isMade);
    // Not all of so many were looked at.
    const isCut = doubts.length >= MAX_DOUBTS;
    const values = leavesOfStep(tool, step).map((leaf) => {
      const { name, value } = leaf;
      const param = text(visibleLine(name));
      if (!isCovered(leaf)) return { param, value: "", ...ASKED_LATER };
      const doubt = doubts.find((one) => one.name === name && one.value === value);
      const source = doubt && heard.find((one) => one === doubt.source);
      const isDoubted = doubt !== undefined || isCut;
      const whose = isGivenBefore(leaf, at)
        ? GIVEN_BY_STEP
        : tellWhose(source && narrow(source, String(value)));
      const called = nameIn(leaf, owned);
      return {
        param,
        ...(called !== undefined && { called: text(shownName(called)) }),
        value: text(sayReferences(visibleLine(String(value)))),
        ...(isDoubted && hideWhose(whose, mask)),
      };
    });
    return {
      tool: step.tool,
      title: titleOf(tool),
      ...(isUnasked && { note: "you did not ask for this, or not again" }),
      values,
    };
  }

  return {
    async rule(call, tool, isOwn = false) {
      if (settings.mode === "off") return OFF;
      if (isOwn && call.name === PLAN_TOOL) return rulePlan(tryJson(call.params));
      const { found, checkAddress, offer } = await inOrder(user, () => find(call, tool, isOwn));
      const covers = () => coveredBy(tool);
      if (found.length === 0) return { ...CLEAR, checkAddress, covers };
      const isKnown = found.some(({ rule }) => rule === "destination")
        ? await destinations.covers(user, call.name)
        : () => false;
      const open = found.filter(({ rule, value }) => rule !== "destination" || !isKnown(value));
      trusted = found.flatMap((one) => (open.includes(one) ? [] : [one.value]));
      const doubts = bound(open.map(describe), call.name).map((doubt) => hide(doubt, mask));
      const isRefused = settings.mode === "deny" && doubts.length > 0;
      return {
        doubts,
        checkAddress,
        covers,
        offer: open.some(({ param }) => param === offer?.param) ? offer : undefined,
        refusal: isRefused ? { code: "provenance_denied", message: refusalOf(doubts) } : undefined,
        ruling: (isApproved) => ({
          verdict: isApproved && open.length > 0 ? "approved" : "trusted",
          doubts: bound(found.map(withoutValue), call.name),
        }),
      };
    },

    async explain(call, tool) {
      const sources = await look();
      const { said, known, heard } = sources;
      const called = calledBy(call, tool, sources);
      const leaves = leavesOf(called);
      const isApproved = approvedIn(called);
      const texts = leaves.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
      const words = hearOnce(said, known);
      return leaves.map((leaf) => {
        const isTheirs = isApproved(leaf) || isPersons(leaf, words, texts);
        const source = isTheirs ? undefined : sourceOf(leaf.value, heard);
        const from = isTheirs ? "person" : source ? "others" : "model";
        const { at, name: param, role, value } = leaf;
        const isFree = heard.length === 0 ? "alone" : trusted.includes(String(value)) ? "trusted" : "asks";
        const rule = grounds && (grounds.get(at) ?? isFree);
        const own = rule === "rule" && used.find(({ places }) => places.has(at))?.rule;
        const flow = describeFlow({ param, role, value: String(value), from, source });
        return hide({ ...flow, ...(rule && { rule }), ...(own && { allows: sayRule(own) }) }, mask);
      });
    },

    hear(call, outcome, origins) {
      if (settings.mode === "off") return [];
      const said = outcome.status === "ok" ? outcome.output : outcome.message;
      innerLength += said.length;
      // What is too long to be searched may hold anything: that it was said is enough.
      const kept = innerLength > MAX_INNER_LENGTH ? withoutWords(outcome) : outcome;
      const items: readonly TurnItem[] = [
        { type: "tool_call", id: call.id, call, external: false },
        { type: "tool_result", id: call.id, call: call.id, outcome: kept, origins: [...origins] },
      ];
      inner.push(...items);
      const { heard } = heardIn(extend(NOTHING_SAID, [spoken(items)], isAgents), whose);
      return originsIn(heard);
    },

    async originsOf(text, name = "") {
      if (settings.mode === "off") return [];
      const { said, known, heard } = await look();
      if (heard.length === 0) return [];
      const words = hearOnce(said, known);
      const isOwn = text.split("\n").every((line) => !/[\p{L}\p{N}]/u.test(line) || words.hasPhrase(line));
      const isNamed = foldedWords(name).every((word) => words.words.has(word) || USUAL_NAME.has(word));
      if (isOwn && isNamed) return [];
      return originsIn(heard);
    },
  };
}

/** More than that nobody would read. */
const MAX_PLAN_LENGTH = 20_000;
const TOO_LONG = {
  code: "invalid_params",
  message: `The plan has more than ${MAX_PLAN_LENGTH} characters, which is too long to be read. Plan fewer steps.`,
};

const notInPlan = (at: number, tool: string) => ({
  code: "invalid_params",
  message: `Step ${at + 1} cannot be planned: ${tool} is no installed tool that changes something. Leave out what only reads.`,
});

function digestOf(tools: readonly ToolInfo[]): string {
  const facts = tools.map((tool) => [tool.name, fingerprintOf(tool)]).toSorted();
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

function originsIn(heard: readonly Source[]): readonly Origin[] {
  return distinctOrigins(heard.flatMap(({ origin, others = [] }) => [origin, ...others].map(shortOrigin)));
}

/** Characters of what inner calls said that are kept in a turn; the checks search no more than this. */
const MAX_INNER_LENGTH = 8_000_000;

const spoken = (items: readonly TurnItem[]): SpokenTurn => ({
  input: { type: "message", text: "" },
  items,
  files: new Map(),
});

function withoutWords(outcome: ToolOutcome): ToolOutcome {
  return outcome.status === "ok" ? { ...outcome, output: "" } : { ...outcome, message: "" };
}

/**
 * Returns where a call may be redirected to. A server that was told nothing can send it anywhere; otherwise it could be sent on with
 * what the model put into the address.
 */
function redirectsOf(
  addresses: readonly string[],
  { isFree, isTrusted }: { isFree(address: string): boolean; isTrusted(address: string): boolean },
): CallRuling["checkAddress"] {
  if (addresses.every(isFree)) return undefined;
  const repeats = addresses.map(repeatsWordsOf);
  return ({ url, from }) => {
    const isOwn = from === undefined || isFree(url) || isTrusted(url);
    if (isOwn || !repeats.some((repeated) => repeated(url))) return undefined;
    const [host, other] = [from, url].map((one) => URL.parse(one)?.host ?? "a server");
    return `${host} redirects to ${other} with a part of the address that it was asked for. Ask for that address itself, so that the user is asked about it.`;
  };
}

function addressesIn(called: Called): readonly string[] {
  return leavesOf(called).flatMap((leaf) => (isPlace(leaf, true) ? [String(leaf.value)] : []));
}

/** Words of a document's name that say nothing. */
const USUAL_NAME = new Set(requests.documents.split(" "));

/** Reads what the person said again only when they have said more. */
function createHearing(): (said: readonly string[], known: readonly string[]) => Said {
  let heard: Said | undefined;
  let key = "";
  return (said, known) => {
    const now = `${said.length} ${known.length} ${new Date().getDate()}`;
    if (heard === undefined || key !== now) heard = hear(said, known, new Date());
    key = now;
    return heard;
  };
}

type Shown = Pick<Doubt, "value" | "sentence" | "headline" | "excerpt" | "source" | "part" | "reason">;

function hide<Told extends Shown>(told: Told, mask: Mask) {
  const { value, sentence, headline, excerpt, source, part, reason } = told;
  const from = reason?.source;
  return {
    ...told,
    value: redact(mask, value),
    sentence: redact(mask, sentence),
    ...(headline !== undefined && { headline: redact(mask, headline) }),
    excerpt: excerpt && redact(mask, excerpt),
    ...(part !== undefined && { part: redact(mask, part) }),
    source: source && redact(mask, source),
    ...(reason && { reason: { ...reason, source: from && hideNames(from, mask) } }),
  };
}

const hideWhose = ({ from, why, source }: WhoseValue, mask: Mask): WhoseValue => ({
  from: redact(mask, from),
  why,
  ...(source && { source: hideNames(source, mask) }),
});

function hideNames(
  { kind, name, place, tool }: NonNullable<NonNullable<Doubt["reason"]>["source"]>,
  mask: Mask,
): NonNullable<Doubt["reason"]>["source"] {
  return {
    kind,
    name: redact(mask, name),
    ...(place !== undefined && { place: redact(mask, place) }),
    ...(tool !== undefined && { tool }),
  };
}

/** True where an object in a JSON text has one name twice: some readers take its first value, others the last. */
function repeatsName(json: string): boolean {
  let members = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json.charAt(at);
    if (isText && char === "\\") at++;
    else if (char === '"') isText = !isText;
    else if (char === ":" && !isText) members++;
  }
  try {
    return members !== countMembers(JSON.parse(json));
  } catch {
    return false;
  }
}

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value);
  const own = Array.isArray(value) ? 0 : inner.length;
  return inner.reduce<number>((sum, one) => sum + countMembers(one), own);
}
