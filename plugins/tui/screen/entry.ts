/** The entries of the history pane, and which of them can be answered or opened. */

import { decisionsAt } from "../../../kernel/kit.ts";
import type { Gate, ToolCall, ToolOutcome } from "../../../kernel/plugin.ts";
import { type Form, stepsOf } from "../questions/question-form.ts";

export type Entry = { readonly id: number } & (
  | {
      readonly type: "person";
      readonly text: string;
      /** What came with it. */
      readonly files?: readonly string[];
      readonly open: boolean;
    }
  /** `spent`: what its turn took, once that is known. */
  | { readonly type: "answer"; readonly text: string; readonly spent?: string }
  | {
      readonly type: "tool";
      readonly call: ToolCall;
      readonly outcome?: ToolOutcome;
      readonly millis?: number;
      /** How many came with the outcome. */
      readonly images?: number;
      /** It is not over: the person is asked something first. */
      readonly isWaiting?: boolean;
      readonly open: boolean;
    }
  | {
      readonly type: "gate";
      readonly gate: Gate;
      readonly choice: number;
      readonly decided?: string;
      /** While a question is being answered. */
      readonly form?: Form;
    }
  /** Postern's own question before something that cannot be undone. */
  | {
      readonly type: "confirm";
      readonly question: string;
      /** What is done on the first choice. */
      readonly yes: string;
      readonly choice: number;
      readonly decided?: string;
    }
  /** A message from Postern itself, in Markdown. */
  | {
      readonly type: "note";
      readonly tone: "plain" | "warning" | "bad";
      readonly text: string;
      /** An address at the end, which stays in one piece. */
      readonly link?: string;
    }
);

export type EntryOf<Type extends Entry["type"]> = Extract<Entry, { type: Type }>;

export interface Choice {
  readonly key: string;
  readonly label: string;
  readonly decision: string;
}

const APPROVAL: readonly Choice[] = [
  { key: "o", label: "Once", decision: "once" },
  { key: "a", label: "Always", decision: "always" },
  { key: "t", label: "Once, and trust this destination", decision: "destination" },
  { key: "d", label: "Deny", decision: "deny" },
];
const AUTHENTICATION: readonly Choice[] = [
  { key: "r", label: "Retry", decision: "done" },
  { key: "d", label: "Deny", decision: "deny" },
];

const DECLINE: Choice = { key: "d", label: "Decline", decision: "decline" };

export function choicesOf(gate: Gate): readonly Choice[] {
  if (gate.type === "authentication") return AUTHENTICATION;
  if (gate.type === "question")
    return [{ key: "a", label: stepsOf(gate).length > 0 ? "Answer" : "Done", decision: "accept" }, DECLINE];
  if (gate.type !== "approval") return [];
  const offered: readonly string[] = decisionsAt(gate);
  return APPROVAL.filter(({ decision }) => offered.includes(decision));
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

/** Entries that Enter opens and closes. */
export function isFoldable(entry: Entry): entry is EntryOf<"tool"> | EntryOf<"person"> {
  return entry.type === "tool" || (entry.type === "person" && isLong(entry.text));
}

const LONGEST_OPEN = 20;

/** A message that is folded. */
export const isLong = (text: string) => text.split("\n", LONGEST_OPEN + 1).length > LONGEST_OPEN;
