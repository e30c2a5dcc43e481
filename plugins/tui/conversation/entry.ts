/** The entries of the history pane, and which of them can be answered or opened. */
import { decisionsAt, readCodeRun, type Source, sayRule } from "../../../kernel/kit/display.ts";
import type { CallSummary, FileChange } from "../../../kernel/kit/tools.ts";
import type { Gate, ToolCall, ToolOutcome } from "../../../kernel/plugin.ts";
import { type Form, stepsOf } from "./question-form.ts";

export type Entry = { readonly id: number } & (
  | {
      readonly type: "person";
      readonly text: string;
      readonly files?: readonly string[];
      readonly open: boolean;
      /** True while it was not read yet. */
      readonly isQueued?: boolean;
    }
  /** A slash command, as it was typed. */
  | { readonly type: "command"; readonly text: string }
  /** `spent`: the model, tokens and cost of its turn, once they are known. */
  | {
      readonly type: "answer";
      readonly text: string;
      readonly spent?: string;
      /** Set once its turn is over. */
      readonly sources?: readonly Source[];
    }
  | {
      readonly type: "tool";
      readonly call: ToolCall;
      readonly outcome?: ToolOutcome;
      readonly millis?: number;
      readonly images?: number;
      /** How it reads, if its tool says so. */
      readonly summary?: CallSummary | undefined;
      /** What it changed in a file. */
      readonly change?: FileChange | undefined;
      /** True while its JSON is shown in place of what can be read. */
      readonly isRaw?: boolean;
      /** True while the person is asked something before the call continues. */
      readonly isWaiting?: boolean;
      readonly open: boolean;
    }
  /** What the model thought before it spoke, as far as it shows that. */
  | {
      readonly type: "thought";
      readonly text: string;
      readonly since?: number;
      /** How long it thought, once that is known. */
      readonly millis?: number | undefined;
      readonly open: boolean;
    }
  /** Steps that are over, as one line. */
  | {
      readonly type: "calls";
      readonly steps: readonly (EntryOf<"tool"> | EntryOf<"thought">)[];
      readonly open: boolean;
    }
  | {
      readonly type: "gate";
      readonly gate: Gate;
      readonly shownAt: number;
      readonly choice: number;
      readonly decided?: string;
      /** True while it shows what the tool may do, and all reasons. */
      readonly open?: boolean;
      /** Set while a question is being answered field by field. */
      readonly form?: Form;
    }
  /** Postern's own question before something that cannot be undone. */
  | {
      readonly type: "confirm";
      readonly question: string;
      /** The label of the first choice. */
      readonly yes: string;
      readonly choice: number;
      readonly decided?: string;
    }
  /** A message from Postern itself, in Markdown. */
  | {
      readonly type: "note";
      readonly tone: "plain" | "warning" | "bad";
      readonly text: string;
      /** An address shown after the text and never broken by a line end. */
      readonly link?: string;
    }
);

export type EntryOf<Type extends Entry["type"]> = Extract<Entry, { type: Type }>;

/** Shown before the choice that was made, and alone of a form that was filled in. */
export const ANSWERED = "Answered";

export interface Choice {
  readonly key: string;
  readonly label: string;
  readonly decision: string;
}

const APPROVAL: readonly Choice[] = [
  { key: "y", label: "Once", decision: "once" },
  { key: "a", label: "Always", decision: "always" },
  { key: "t", label: "Once, and trust this destination", decision: "destination" },
  { key: "f", label: "Once, and from now on", decision: "rule" },
  { key: "n", label: "Deny", decision: "deny" },
];
const AUTHENTICATION: readonly Choice[] = [
  { key: "r", label: "Retry", decision: "done" },
  { key: "n", label: "Deny", decision: "deny" },
];

const DECLINE: Choice = { key: "n", label: "Decline", decision: "decline" };

export function choicesOf(gate: Gate): readonly Choice[] {
  if (gate.type === "authentication") return AUTHENTICATION;
  if (gate.type === "question")
    return [{ key: "a", label: stepsOf(gate).length > 0 ? "Answer" : "Done", decision: "accept" }, DECLINE];
  if (gate.type !== "approval") return [];
  const { offer, steps } = gate;
  const offered: readonly string[] = decisionsAt(gate);
  return APPROVAL.filter(({ decision }) => offered.includes(decision)).map((choice) => {
    if (choice.decision === "once" && steps) return { ...choice, label: "Allow these steps" };
    return choice.decision === "rule" && offer
      ? { ...choice, label: `${choice.label} ${sayRule(offer)}` }
      : choice;
  });
}

/** An entry that waits for an answer. */
export type Asking = EntryOf<"gate"> | EntryOf<"confirm">;

export function isAsking(entry: Entry): entry is Asking {
  const isOpen = (entry.type === "gate" || entry.type === "confirm") && entry.decided === undefined;
  return isOpen && choicesAt(entry).length > 0;
}

export function choicesAt(entry: Asking): readonly Choice[] {
  if (entry.type === "gate") return choicesOf(entry.gate);
  return [
    { key: "y", label: entry.yes, decision: "yes" },
    { key: "n", label: "No", decision: "no" },
  ];
}

/** True for a question with more to say than its reason: what the tool may do, and what else is in doubt. */
export const hasMore = (entry: Asking): boolean =>
  entry.type === "gate" && entry.gate.type === "approval" && (entry.gate.doubts ?? []).length > 0;

/** True for a question about several steps. */
export const isPlan = (entry: Asking): boolean =>
  entry.type === "gate" && entry.gate.type === "approval" && entry.gate.steps !== undefined;

/** Entries that Enter opens and closes. */
export function isFoldable(entry: Entry): entry is EntryOf<"tool" | "thought" | "person" | "calls" | "gate"> {
  // An approval that was given or denied is a line or two, with what it was about inside.
  if (entry.type === "gate") return entry.gate.type === "approval" && entry.decided !== undefined;
  return isStep(entry) || entry.type === "calls" || (entry.type === "person" && isLong(entry.text));
}

/** A step on the way to an answer. Those that follow each other stand together. */
export function isStep(entry: Entry | undefined): entry is EntryOf<"tool" | "thought"> {
  return entry?.type === "tool" || entry?.type === "thought";
}

/** True for a call of which there is more to read than its JSON. */
export const hasWords = ({ call, change }: EntryOf<"tool">): boolean =>
  change !== undefined || readCodeRun(call) !== undefined;

const MAX_OPEN_LINES = 20;

/** True for a message that is collapsed at first. */
export const isLong = (text: string) => text.split("\n", MAX_OPEN_LINES + 1).length > MAX_OPEN_LINES;
