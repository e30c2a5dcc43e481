/** The words and the answers of an approval gate, the same on every channel. */
import type { ApprovalDecision, Gate, ParamRule, RuleOffer } from "./gate.ts";

type Asked = Pick<Extract<Gate, { type: "approval" }>, "doubts" | "fingerprint" | "offer">;

/** "Always" is not offered where it would not be kept, or would be asked again all the same; a rule not where its limit must be typed first. */
export function decisionsAt({ doubts = [], fingerprint, offer }: Asked): readonly ApprovalDecision[] {
  if (doubts.length === 0) return fingerprint === undefined ? ["once", "deny"] : ["once", "always", "deny"];
  const isPlace = doubts.some(({ rule }) => rule === "destination");
  const hasRule = offer?.limit !== undefined;
  return [
    "once",
    ...(isPlace ? ["destination" as const] : []),
    ...(hasRule ? ["rule" as const] : []),
    "deny",
  ];
}

/** What the rule allows, in words: "up to 20 EUR a day (amount)", "anything in ann/ (repo)". */
export function sayRule({ kind, param, limit = "…", unit }: RuleOffer): string {
  const much = `up to ${limit}${unit === undefined ? "" : ` ${unit}`} a day`;
  const inside = limit.startsWith("@") ? `any address ${limit}` : `anything in ${limit}`;
  return `${kind === "amount" ? much : inside} (${param})`;
}

/** The rule that the person agreed to, with the limit that they typed; undefined if it can be none. */
export function agreedRule(offer: RuleOffer, typed?: string): ParamRule | undefined {
  const limit = typed === undefined || typed === offer.limit ? offer.limit : amountIn(offer, typed);
  return limit === undefined ? undefined : { ...offer, limit };
}

/** 1,000 is one to some people and a thousand to others. */
const AMOUNT = /^\d{1,9}(?:[.,]\d{1,2})?$/;

function amountIn({ kind }: RuleOffer, typed: string): string | undefined {
  const text = typed.trim();
  if (kind !== "amount" || !AMOUNT.test(text)) return undefined;
  const amount = Number(text.replace(",", "."));
  return amount > 0 ? String(amount) : undefined;
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
