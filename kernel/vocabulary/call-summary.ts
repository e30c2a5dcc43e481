/** A call in a few words, for people: what was done, to what, with how much of a result. What is quoted is untrusted text. */
import { isRecord, tryJson, tryRecord } from "../text/json.ts";
import { visibleLine } from "../text/visible.ts";

/** Done, under way, failed. `#` is what it was done to. */
export type DeedWords = readonly [done: string, running: string, failed: string];

export const DEEDS = {
  searched: ["Searched “#”", "Searching “#”", "Could not search “#”"],
  searched_files: ["Searched the files for “#”", "Searching the files for “#”", "Could not search the files"],
  searched_memory: [
    "Searched the memory for “#”",
    "Searching the memory for “#”",
    "Could not search the memory",
  ],
  searched_tools: ["Looked for tools: “#”", "Looking for tools: “#”", "Could not look for tools"],
  read: ["Read #", "Reading #", "Could not read #"],
  read_memory: ["Read # in the memory", "Reading # in the memory", "Could not read # in the memory"],
  listed: ["Listed #", "Listing #", "Could not list #"],
  listed_memory: ["Looked through the memory", "Looking through the memory", "Could not list the memory"],
  wrote: ["Wrote #", "Writing #", "Could not write #"],
  wrote_memory: ["Wrote # to the memory", "Writing # to the memory", "Could not write # to the memory"],
  edited: ["Edited #", "Editing #", "Could not edit #"],
  moved: ["Moved #", "Moving #", "Could not move #"],
  removed: ["Removed #", "Removing #", "Could not remove #"],
  removed_memory: [
    "Removed # from the memory",
    "Removing # from the memory",
    "Could not remove # from the memory",
  ],
  undid: ["Undo of changed files", "Undoing a change of files", "Could not undo the change"],
  ran_code: ["Ran code", "Running code", "The code failed"],
  converted: ["Converted #", "Converting #", "Could not convert #"],
  looked_up_weather: [
    "Looked up the weather in #",
    "Looking up the weather in #",
    "Could not look up the weather in #",
  ],
  read_skill: ["Read the skill #", "Reading the skill #", "Could not read the skill #"],
  ran_skill: [
    "Ran a script of the skill #",
    "Running a script of the skill #",
    "A script of the skill # failed",
  ],
  copied_skill: [
    "Copied files of the skill #",
    "Copying files of the skill #",
    "Could not copy files of the skill #",
  ],
  began_mission: ["Took on a mission: #", "Taking on a mission: #", "Could not take on a mission: #"],
  ended_mission: ["Completed a mission", "Completing a mission", "Could not complete the mission"],
  listed_missions: ["Looked at the missions", "Looking at the missions", "Could not list the missions"],
  delegated: ["Delegated: #", "Delegating: #", "Could not delegate: #"],
  proposed_routine: ["Set up a routine: #", "Proposing a routine: #", "Could not set up the routine: #"],
  proposed_tool: ["Installed the tool #", "Proposing the tool #", "Could not install the tool #"],
} as const satisfies Readonly<Record<string, DeedWords>>;

export type Deed = keyof typeof DEEDS;

export const COUNTED = ["results", "entries", "charts", "files", "copied", "paths"] as const;
export type Counted = (typeof COUNTED)[number];

/** How a tool's calls read. A tool that does not say is only named. */
export interface CallWords {
  readonly did: Deed;
  /** What it is done to, with its params in braces: the first of these whose params are given. */
  readonly object?: readonly string[];
  /** Stands for it where none of them is given. */
  readonly otherwise?: string;
  /** The lists in its output whose entries are counted. */
  readonly counts?: readonly Counted[];
}

export interface CallSummary {
  readonly text: string;
  readonly did: Deed;
  readonly object?: string | undefined;
  readonly counts?: CallCounts | undefined;
}

export type CallCounts = { readonly [Name in Counted | "added" | "removed"]?: number | undefined };

interface Called {
  readonly name: string;
  readonly params: string;
}

type Ended = { readonly status: string; readonly output?: string } | undefined;

const MAX_OBJECT_LENGTH = 80;
const PATHS = ["path", "folder", "to", "prefix"];

/** `outcome`: absent while the call runs. `lines`: how many lines of a file it added and removed. */
export function summarise(
  { did, object: forms = [], otherwise, counts: wanted = [] }: CallWords,
  call: Called,
  outcome?: Ended,
  lines?: Pick<CallCounts, "added" | "removed">,
): CallSummary {
  const params = tryRecord(call.params);
  const object = forms.map((form) => fill(form, params)).find((text) => text !== undefined) ?? otherwise;
  const counts = outcome?.status === "ok" ? { ...countsIn(outcome.output, wanted), ...lines } : {};
  const summary = { did, object, ...(Object.keys(counts).length > 0 && { counts }) };
  const state = outcome === undefined ? "running" : outcome.status === "ok" ? "done" : "failed";
  const words = tellDeed(DEEDS[did], object, state);
  return { text: [words, ...tellCounts(counts)].join(" · "), ...summary };
}

/** Undefined where a param is not given. */
function fill(form: string, params: Readonly<Record<string, unknown>>): string | undefined {
  const keys = [...form.matchAll(/\{(\w+)\}/g)].map(([, key = ""]) => key);
  if (keys.some((key) => shown(key, params[key]) === "")) return undefined;
  return form.replaceAll(/\{(\w+)\}/g, (_, key: string) => shown(key, params[key]));
}

export type CallState = "done" | "running" | "failed";

/** The words of a deed with what it is done to. */
export function tellDeed([done, running, failed]: DeedWords, object: string | undefined, state: CallState) {
  const words = state === "done" ? done : state === "running" ? running : failed;
  // As a function: in a replacement text `$` has a meaning.
  return object === undefined ? words.replace(/:? [“„]?#[”“]?/, "") : words.replace("#", () => object);
}

const NOUNS = {
  results: ["result", "results"],
  entries: ["entry", "entries"],
  charts: ["chart", "charts"],
  files: ["file", "files"],
  copied: ["file", "files"],
  paths: ["file", "files"],
} as const satisfies Readonly<Record<Counted, readonly [string, string]>>;

function tellCounts({ added, removed, ...found }: CallCounts): string[] {
  const nouns = COUNTED.flatMap((name) => {
    const count = found[name];
    return count === undefined ? [] : [`${count} ${NOUNS[name][count === 1 ? 0 : 1]}`];
  });
  return added === undefined ? nouns : [...nouns, tellLines(added, removed)];
}

/** `+1 −1`, with a minus as wide as the plus. */
export function tellLines(added: number, removed = 0): string {
  const [more, less] = [`+${added}`, `−${removed}`];
  return removed === 0 && added > 0 ? more : added === 0 && removed > 0 ? less : `${more} ${less}`;
}

/** Of charts and files there is only something to say if there are some. */
function countsIn(output: string | undefined, wanted: readonly Counted[]): CallCounts {
  if (wanted.length === 0 || output === undefined) return {};
  const found = tryJson(output);
  if (!isRecord(found)) return {};
  return Object.fromEntries(
    wanted.flatMap((name) => {
      const list = found[name];
      const isTold = Array.isArray(list) && (list.length > 0 || name === "results" || name === "entries");
      return isTold ? [[name, list.length]] : [];
    }),
  );
}

/** What a call is about, of whose tool nothing is known but its name. */
const TELLING = ["query", "question", "q", "url", "path", "title", "name", "city", "place", "text", "id"];

/** The value of a call that says most; empty where none is short and plain. */
export function tellingParam({ params }: Pick<Called, "params">): string {
  const given = tryRecord(params);
  const first = TELLING.find((key) => shown(key, given[key]) !== "") ?? Object.keys(given)[0];
  return first === undefined ? "" : shown(first, given[first]);
}

function shown(key: string, value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return "";
  const line = visibleLine(
    value
      .slice(0, 4 * MAX_OBJECT_LENGTH)
      .trim()
      .replaceAll(/\s+/g, " "),
  );
  const text = PATHS.includes(key) && line.length > 1 && line.startsWith("/") ? line.slice(1) : line;
  return text.length <= MAX_OBJECT_LENGTH ? text : `${text.slice(0, MAX_OBJECT_LENGTH).toWellFormed()}…`;
}
