/** The provenance gate of a turn: which values of a call are neither the person's nor anything they pointed to. */

import { type Doubt, distinctOrigins, type ExplainedValue, foldedWords, redact } from "../../kernel/kit.ts";
import type { CallRuling, CheckedTurn, Mask, ToolCall, ToolInfo, TurnCheck } from "../../kernel/plugin.ts";
import { repeatsName } from "./called/repeated-names.ts";
import type { KnownDestinations } from "./destinations.ts";
import { flowOf } from "./flow.ts";
import { type Called, type Heard, type Doubt as Judged, judge } from "./ruling.ts";
import { hear, type Said } from "./said.ts";
import {
  bound,
  describe,
  describeFlow,
  type Found,
  refusalOf,
  shortOrigin,
  withoutValue,
} from "./sentences.ts";
import type { ProvenanceSettings } from "./settings.ts";
import { isOutside, ownerOfTool, type Source, type Sources, sourcesOf, type Whose } from "./sources.ts";
import type { Trace } from "./trace.ts";

export interface TurnGate extends Required<TurnCheck> {
  /** Where each of its values came from. */
  explain(call: ToolCall, tool: ToolInfo): Promise<ExplainedValue[]>;
}

export interface TurnGateParts {
  readonly settings: ProvenanceSettings;
  readonly destinations: Pick<KnownDestinations, "covers">;
  readonly mask: Mask;
}

/** Nothing was read before the call, or all of its values are the person's. */
const CLEAR: CallRuling = { doubts: [], ruling: () => ({ verdict: "clear", doubts: [] }) };
const OFF: CallRuling = { doubts: [], ruling: () => ({ verdict: "off", doubts: [] }) };

/** `trace`: the conversation up to now. */
export function createTurnGate(
  { settings, destinations, mask }: TurnGateParts,
  { user, installed, persons, isFollowed, show }: CheckedTurn,
  trace: () => Promise<Trace>,
): TurnGate {
  const whose: Whose = { installed, trusted: settings.trusted, isFollowed, show };
  const hearOnce = createHearing();
  // Calls of one answer are judged before any of them has run: the second is still the second.
  const made: Heard[] = [];

  async function look(): Promise<Sources> {
    const [traced, own] = await Promise.all([trace(), persons()]);
    const sources = sourcesOf(traced, whose);
    return { ...sources, known: [...own, ...sources.known] };
  }

  function calledBy(call: ToolCall, tool: ToolInfo): Called {
    return {
      name: tool.server?.tool ?? call.name,
      schema: tool.schema,
      params: parse(call.params),
      writes: tool.writes,
      isOutside: isOutside(tool, whose),
      owner: ownerOfTool(tool),
      roles: tool.params,
    };
  }

  async function find(call: ToolCall, tool: ToolInfo): Promise<readonly Found[]> {
    const { said, known, heard } = await look();
    if (heard.length === 0) return [];
    // What was read says more to a person than what a call answered.
    const last = heard.findLast(({ place }) => place !== undefined) ?? heard.at(-1);
    const called = calledBy(call, tool);
    const doubts = judge(called, hearOnce(said, known), [...heard, ...made]);
    made.push({ owner: called.owner, tool: called.name, text: "", asked: called.params });
    const twice: Judged = { rule: "destination", name: "params", value: "…", source: undefined };
    return [...doubts, ...(repeatsName(call.params) ? [twice] : [])].map(({ rule, name, value, source }) => ({
      tool: call.name,
      rule,
      param: name,
      value: String(value),
      source: heard.find((one): one is Source => one === source),
      last,
    }));
  }

  return {
    async rule(call, tool) {
      if (settings.mode === "off") return OFF;
      const found = await find(call, tool);
      if (found.length === 0) return CLEAR;
      const isKnown = found.some(({ rule }) => rule === "destination")
        ? await destinations.covers(user, call.name)
        : () => false;
      const open = found.filter(({ rule, value }) => rule !== "destination" || !isKnown(value));
      const doubts = bound(open.map(describe), call.name).map((doubt) => hide(doubt, mask));
      const isRefused = settings.mode === "deny" && doubts.length > 0;
      return {
        doubts,
        refusal: isRefused ? { code: "provenance_denied", message: refusalOf(doubts) } : undefined,
        ruling: (isApproved) => ({
          verdict: isApproved && open.length > 0 ? "approved" : "trusted",
          doubts: bound(found.map(withoutValue), call.name),
        }),
      };
    },

    async explain(call, tool) {
      const { said, known, heard } = await look();
      return flowOf(calledBy(call, tool), hearOnce(said, known), heard).map(({ leaf, from, source }) =>
        hide(
          describeFlow({ param: leaf.name, role: leaf.role, value: String(leaf.value), from, source }),
          mask,
        ),
      );
    },

    async originsOf(text, name = "") {
      if (settings.mode === "off") return [];
      const { said, known, heard } = await look();
      if (heard.length === 0) return [];
      const words = hearOnce(said, known);
      const isOwn = text.split("\n").every((line) => !/[\p{L}\p{N}]/u.test(line) || words.hasPhrase(line));
      const isNamed = foldedWords(name).every((word) => words.words.has(word) || USUAL_NAME.has(word));
      return isOwn && isNamed ? [] : distinctOrigins(heard.map(({ origin }) => shortOrigin(origin)));
    },
  };
}

/** Words of a document's name that say nothing. */
const USUAL_NAME = new Set(
  "notes note md txt memory memories todo todos list lists people person contacts facts ideas plans projects daily journal log".split(
    " ",
  ),
);

/** What the person said is read anew only when they have said more. */
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

function hide<Told extends Pick<Doubt, "value" | "sentence" | "excerpt" | "source">>(
  told: Told,
  mask: Mask,
): Told {
  const { excerpt, source } = told;
  return {
    ...told,
    value: redact(mask, told.value),
    sentence: redact(mask, told.sentence),
    ...(excerpt !== undefined && { excerpt: redact(mask, excerpt) }),
    ...(source !== undefined && { source: redact(mask, source) }),
  };
}

function parse(params: string): unknown {
  try {
    return JSON.parse(params);
  } catch {
    return undefined;
  }
}
