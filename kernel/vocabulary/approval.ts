/** The words and the answers of an approval gate, the same on every channel. */
import type { ApprovalDecision, Gate } from "./gate.ts";

type Asked = Pick<Extract<Gate, { type: "approval" }>, "doubts" | "fingerprint">;

/** "Always" is not offered where it would not be kept, or would be asked again all the same. */
export function decisionsAt({ doubts = [], fingerprint }: Asked): readonly ApprovalDecision[] {
  if (doubts.some(({ rule }) => rule === "destination")) return ["once", "destination", "deny"];
  return doubts.length > 0 || fingerprint === undefined ? ["once", "deny"] : ["once", "always", "deny"];
}

const MAX_TOLD = 3;

/** Why the call is asked about, for a channel with room for a sentence or two; empty where the tool is always asked about. */
export function whyHeld(
  { doubts = [] }: Pick<Asked, "doubts">,
  andMore = (count: number) => `and ${count} more`,
): string {
  // Calls that are asked about together may raise the same one twice.
  const all = [...new Set(doubts.map(({ sentence }) => sentence))];
  const told = all.slice(0, MAX_TOLD);
  const more = all.length - told.length;
  return [...told, ...(more > 0 ? [andMore(more)] : [])].join("; ");
}
