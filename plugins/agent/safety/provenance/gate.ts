/** The provenance gate of a turn: finds the values of a call that are neither the person's nor what they pointed to. */

import type { Doubt, ExplainedValue } from "../../../../kernel/kit.ts";
import { distinctOrigins, foldedWords } from "../../../../kernel/kit.ts";
import type { Env, Mask, Origin, ToolCall, ToolInfo, ToolReceipt } from "../../../../kernel/plugin.ts";
import { redact } from "../redact.ts";
import { sourceOf } from "./answers/matches.ts";
import { leavesOf } from "./called/leaves.ts";
import type { KnownDestinations } from "./destinations.ts";
import { type Called, type Heard, isPersons, type Doubt as Judged, judge } from "./ruling.ts";
import { hear, type Said } from "./said.ts";
import { bound, describe, describeFlow, type Found, shortOrigin, withoutValue } from "./sentences.ts";
import { isOutside, ownerOfTool, type Source, type Sources, sourcesOf, type Whose } from "./sources.ts";
import type { Trace } from "./trace.ts";
import requests from "./words/requests.json" with { type: "json" };

export type ProvenanceMode = "ask" | "deny" | "off";

export interface ProvenanceSettings {
  readonly mode: ProvenanceMode;
  /** Names of tools, and of servers after "mcp:", whose words count like the person's. */
  readonly trusted: ReadonlySet<string>;
}

export function readProvenance(env: Env): ProvenanceSettings {
  return {
    mode: env.oneOf(
      "PROVENANCE",
      ["ask", "deny", "off"],
      "ask",
      "What happens to a tool call with values that somebody other than the user supplied",
    ),
    trusted: new Set(
      env.list(
        "TRUSTED_SOURCES",
        "Tools, and MCP servers as mcp:<name>, whose output counts like the user's own words",
      ),
    ),
  };
}

type Ruling = NonNullable<ToolReceipt["ruling"]>;

export interface Ruled {
  /** Why the person must be asked; empty where the call may run. */
  readonly doubts: readonly Doubt[];
  /** What the receipt says, should the call run. */
  ruling(isApproved: boolean): Ruling;
}

export interface TurnGate {
  rule(call: ToolCall, tool: ToolInfo): Promise<Ruled>;
  /** Tells where each of its values came from. */
  explain(call: ToolCall, tool: ToolInfo): Promise<ExplainedValue[]>;
  /** Returns whose words a text may be made of, where it is not the person's own. */
  originsOf(text: string, name?: string): Promise<readonly Origin[]>;
}

export interface TurnGateParts {
  readonly settings: ProvenanceSettings;
  readonly destinations: Pick<KnownDestinations, "covers">;
  readonly followed: ReadonlySet<string>;
  readonly mask: Mask;
}

/** The ruling where nothing of others was read before the call. */
export const CLEAR: Ruled = { doubts: [], ruling: () => ({ verdict: "clear", doubts: [] }) };
const OFF: Ruled = { doubts: [], ruling: () => ({ verdict: "off", doubts: [] }) };

export function createTurnGate(
  { settings, destinations, followed, mask }: TurnGateParts,
  {
    user,
    installed,
    trace,
    persons,
  }: {
    readonly user: string;
    readonly installed: ReadonlyMap<string, ToolInfo>;
    /** The conversation up to now. */
    trace(): Promise<Trace>;
    /** Files of the operator count as theirs, but not as requests. */
    persons(): Promise<readonly string[]>;
  },
): TurnGate {
  const whose: Whose = { installed, trusted: settings.trusted, followed };
  const hearOnce = createHearing();
  // The calls of one answer are judged before any of them has run, and the second is still the second.
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
    // A page or file that was read says more to a person than the output of a call.
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
      return {
        doubts: bound(open.map(describe), call.name).map((doubt) => hide(doubt, mask)),
        ruling: (isApproved) => ({
          verdict: isApproved && open.length > 0 ? "approved" : "trusted",
          doubts: bound(found.map(withoutValue), call.name),
        }),
      };
    },

    async explain(call, tool) {
      const { said, known, heard } = await look();
      const leaves = leavesOf(calledBy(call, tool));
      const texts = leaves.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
      const words = hearOnce(said, known);
      return leaves.map((leaf) => {
        const isTheirs = isPersons(leaf, words, texts);
        const source = isTheirs ? undefined : sourceOf(leaf.value, heard);
        const from = isTheirs ? "person" : source ? "others" : "model";
        const { name: param, role, value } = leaf;
        return hide(describeFlow({ param, role, value: String(value), from, source }), mask);
      });
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

function hide<Told extends Pick<Doubt, "value" | "sentence" | "excerpt" | "source">>(
  told: Told,
  mask: Mask,
): Told {
  const { excerpt, source } = told;
  return {
    ...told,
    value: redact(mask, told.value),
    sentence: redact(mask, told.sentence),
    excerpt: excerpt && redact(mask, excerpt),
    source: source && redact(mask, source),
  };
}

function parse(params: string): unknown {
  try {
    return JSON.parse(params);
  } catch {
    return undefined;
  }
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
