/** What a person is told and can answer at an approval gate, the same on every channel. */
import type { ApprovalDecision, Gate } from "./gate.ts";

type ApprovalGate = Extract<Gate, { type: "approval" }>;

/** "Always" is not offered where it would not be kept, or would be asked again all the same. */
export function decisionsAt({ doubts = [], fingerprint }: ApprovalGate): readonly ApprovalDecision[] {
  if (doubts.some(({ rule }) => rule === "destination")) return ["once", "destination", "deny"];
  return doubts.length > 0 || fingerprint === undefined ? ["once", "deny"] : ["once", "always", "deny"];
}

const MOST_TOLD = 3;

/** Why the call is asked about, for a channel with room for a sentence or two; empty where the tool is always asked about. */
export function whyHeld({ doubts = [] }: ApprovalGate): string {
  const told = doubts.slice(0, MOST_TOLD).map(({ sentence }) => sentence);
  const more = doubts.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}
