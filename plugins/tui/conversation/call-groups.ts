/** Calls on the way to an answer, as one line once the answer follows: "Read 3 files · searched twice". It opens into a line for each. */
import { DEEDS, type Deed, tellDeed } from "../../../kernel/kit/display.ts";
import { durationOf } from "../text/amounts.ts";
import { type Entry, type EntryOf, isStep } from "./entry.ts";

type Call = EntryOf<"tool">;

const MIN_CALLS = 3;

/** The entries with their groups before them. Those of a group that is closed are not there. */
export function withGroups(entries: readonly Entry[], isOpen: (group: number) => boolean): readonly Entry[] {
  const shown: Entry[] = [];
  for (let at = 0; at < entries.length; ) {
    const from = at;
    while (isStep(entries[at])) at++;
    if (at === from) {
      shown.push(entries[at++] as Entry);
      continue;
    }
    const steps = entries.slice(from, at).filter(isStep);
    // What runs, waits or was opened by the person stays as it is.
    const isOver = at < entries.length && steps.every((step) => !step.open && isDone(step));
    const id = groupOf(steps[0] as Entry);
    if (isOpen(id) || (isOver && callsIn(steps).length >= MIN_CALLS))
      shown.push({ id, type: "calls", steps, open: isOpen(id) });
    if (isOpen(id) || shown.at(-1)?.id !== id) shown.push(...steps);
  }
  return shown;
}

/** The id of a group that begins with this entry. */
const groupOf = ({ id }: Pick<Entry, "id">): number => -id;

const isDone = (step: EntryOf<"tool" | "thought">): boolean =>
  step.type === "thought" ? step.millis !== undefined : step.outcome !== undefined;

export const callsIn = (steps: readonly Entry[]): readonly Call[] =>
  steps.filter((step) => step.type === "tool");

/** What was done, in the order in which it was done first. What is quoted is untrusted text. */
export function tellGroup({ steps }: Pick<EntryOf<"calls">, "steps">): string {
  const calls = callsIn(steps);
  const succeeded = calls.filter(({ outcome }) => outcome?.status === "ok");
  const alike = Map.groupBy(succeeded, ({ call, summary }) => `${call.name} ${summary?.did ?? ""}`);
  const millis = steps.reduce((sum, step) => sum + (step.type === "thought" ? (step.millis ?? 0) : 0), 0);
  const words = [
    ...(millis >= 1000 ? [`thought for ${durationOf(millis)}`] : []),
    ...[...alike.values()].map(tellAlike),
  ].join(" · ");
  // The name of a tool is written as it is.
  const isDeed = millis >= 1000 || succeeded[0]?.summary !== undefined;
  return isDeed ? `${words.charAt(0).toUpperCase()}${words.slice(1)}` : words;
}

function tellAlike(calls: readonly Call[]): string {
  const [{ call, summary }] = calls as [Call];
  if (summary === undefined) return calls.length === 1 ? call.name : `${call.name} ${times(calls.length)}`;
  const deed = DEEDS[summary.did];
  const of = (object?: string) => lower(tellDeed(deed, object, "done"));
  if (calls.length === 1) return of(summary.object);
  const objects = new Set(calls.map((one) => one.summary?.object)).size;
  const noun = NOUNS[summary.did]?.(call.name);
  if (noun !== undefined && objects > 1) return `${of()} ${objects} ${noun}`;
  return `${of().replace(/ (?:in|for)$/, "")} ${times(calls.length)}`;
}

const files = () => "files";
/** What several of them were done to. */
const NOUNS: Partial<Readonly<Record<Deed, (tool: string) => string>>> = {
  read: (tool) => (tool.startsWith("workspace_") ? "files" : "pages"),
  wrote: files,
  edited: files,
  moved: files,
  removed: files,
};

const lower = (words: string): string => `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
const times = (count: number): string => (count === 2 ? "twice" : `${count} times`);
