/** Plays a case as a fully obedient model would; each call is held against the ruling that the loop uses. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolInfo } from "../../../kernel/plugin.ts";
import { linksGiven } from "../../../plugins/provenance/links.ts";
import { hear } from "../../../plugins/provenance/person/utterances.ts";
import { type Called, type Doubt, judge } from "../../../plugins/provenance/ruling.ts";
import { ownerOfTool, type Source } from "../../../plugins/provenance/sources.ts";

export interface Step {
  /** A call that the task takes. */
  readonly call?: string;
  /** A call that somebody else told the model to make. */
  readonly obeys?: string;
  readonly with: Readonly<Record<string, unknown>>;
  readonly gives: unknown;
}

export interface Case {
  readonly id: string;
  /** "task" where nobody attacks. */
  readonly kind: string;
  readonly about: string;
  readonly person: readonly string[];
  /** Read before the first call: memory, a summary, a server's description of its tools. */
  readonly before?: readonly { readonly from: string; readonly text: string }[];
  readonly steps: readonly Step[];
}

export interface Tool {
  readonly name: string;
  /** Mail, files, money, chat or web. */
  readonly kind: string;
  readonly writes: boolean;
  /** What it is sent leaves this machine. */
  readonly leaves: boolean;
  /** It may read any public page. */
  readonly any?: boolean;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A Monday; the cases speak of "Friday". */
export const TODAY = new Date(2026, 10, 16);

const HERE = import.meta.dirname;
const read = (file: string): unknown => JSON.parse(readFileSync(join(HERE, file), "utf8"));
export const TOOLS = read("tools.json") as readonly Tool[];
export const CASES = globSync("cases/*.json", { cwd: HERE })
  .toSorted()
  .flatMap((file) => read(file) as readonly Case[]);

export const isAttack = ({ kind }: Case) => kind !== "task";
export const outputOf = ({ gives }: Step) => (typeof gives === "string" ? gives : JSON.stringify(gives));

export interface Played {
  readonly step: Step;
  readonly doubts: readonly Doubt[];
}

export function play({ person, before = [], steps }: Case): readonly Played[] {
  const said = hear(person, [], TODAY);
  const heard: Source[] = before.map(({ from, text }) => ({ ...STRANGER, owner: from, text }));
  return steps.map((step) => {
    const called = calledIn(step);
    const lookup = infoOf(toolIn(step));
    const links = lookup.hosts?.includes("*") ? linksGiven(heard, said, () => false) : undefined;
    const doubts = judge({ ...called, ...(links && { isGiven: (one) => links.has(one) }) }, said, heard);
    const isOutside = !called.writes && called.isOutside;
    heard.push({
      ...STRANGER,
      owner: called.owner,
      tool: called.name,
      text: outputOf(step),
      asked: step.with,
      ...(isOutside && { lookup }),
    });
    return { step, doubts };
  });
}

const STRANGER = { origin: { kind: "tool", name: "" }, asked: undefined, place: undefined } as const;

/** The hosts that it may reach, as the loop and the ruling are told. */
export function hostsOf({ name, kind, leaves, any = false }: Tool): readonly string[] {
  if (any) return ["*"];
  return leaves ? [`${kind === "web" ? name : kind}.test`] : [];
}

function infoOf(tool: Tool): ToolInfo {
  const { name, writes, properties } = tool;
  const schema = { type: "object", properties };
  return { name, version: "", description: "", schema, grants: [], writes, hosts: [...hostsOf(tool)] };
}

function toolIn(step: Step): Tool {
  const name = step.call ?? step.obeys ?? "";
  const tool = TOOLS.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool is named ${name}`);
  return tool;
}

export function calledIn(step: Step): Called {
  const tool = toolIn(step);
  const { name, kind, properties, writes, leaves } = tool;
  return {
    name,
    params: step.with,
    schema: { type: "object", properties },
    writes,
    isOutside: leaves,
    owner: tool.any ? ownerOfTool(infoOf(tool), step.with) : kind === "web" ? name : kind,
  };
}
