/** Why a call was asked about, for a place with room for a sentence or two. */
import { whyHeld } from "../../../kernel/kit/display.ts";
import type { Doubt } from "../api.ts";
import { text } from "./text.ts";

export function reasonsOf(doubts: readonly Doubt[] = []): string {
  const told = doubts.map((doubt) => ({ ...doubt, ...text.chat.doubt(doubt) }));
  return whyHeld({ doubts: told }, text.tools.andMore);
}
