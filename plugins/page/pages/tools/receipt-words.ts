/** Receipts of calls, in words. */
import type { ToolReceipt } from "../../state/wire.ts";
import { reasonsOf } from "../../text/reasons.ts";
import { text } from "../../text/text.ts";

const words = text.tools;

/** Why the call of a receipt ran: `who` is undefined for the reader. Empty where there was nothing to rule. */
export function whyRan(
  { verdict, doubts }: NonNullable<ToolReceipt["ruling"]>,
  who: string | undefined,
): string {
  switch (verdict) {
    case "approved": {
      const why = reasonsOf(doubts);
      return who === undefined ? words.ranAfterYou(why) : words.ranAfter(who, why);
    }
    case "trusted":
      return who === undefined ? words.youTrust : words.theyTrust(who);
    case "off":
      return words.notChecked;
    case "clear":
      return "";
  }
}
