/** What a person is told and can answer at an approval gate, the same on every channel. */
import type { ApprovalDecision, Gate } from "./gate.ts";
import type { ToolReceipt } from "./tools.ts";

type Asked = Pick<Extract<Gate, { type: "approval" }>, "doubts" | "fingerprint">;

/** "Always" is not offered where it would not be kept, or would be asked again all the same. */
export function decisionsAt({ doubts = [], fingerprint }: Asked): readonly ApprovalDecision[] {
  if (doubts.some(({ rule }) => rule === "destination")) return ["once", "destination", "deny"];
  return doubts.length > 0 || fingerprint === undefined ? ["once", "deny"] : ["once", "always", "deny"];
}

const MAX_TOLD = 3;

/** Why the call is asked about, for a channel with room for a sentence or two; empty where the tool is always asked about. */
export function whyHeld({ doubts = [] }: Pick<Asked, "doubts">): string {
  // Calls that are asked about together may raise the same one twice.
  const all = [...new Set(doubts.map(({ sentence }) => sentence))];
  const told = all.slice(0, MAX_TOLD);
  const more = all.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

/** Why the call of a receipt ran, for a person: `whose` is "you", or a name. Empty where there was nothing to rule. */
export function whyRan({ verdict, doubts }: NonNullable<ToolReceipt["ruling"]>, whose: string): string {
  switch (verdict) {
    case "approved": {
      const why = whyHeld({ doubts });
      return `ran after ${whose} approved it${why === "" ? "" : `: ${why}`}`;
    }
    case "trusted":
      return `went to a destination that ${whose === "you" ? "you trust" : `${whose} trusts`}`;
    case "off":
      return "not checked: PROVENANCE=off";
    case "clear":
      return "";
  }
}
