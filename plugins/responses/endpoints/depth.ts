/** What is kept or shown again as it was sent is written again, which takes a call for each level. */
import { invalid } from "../wire/refusal.ts";

const MOST_LEVELS = 64;

const nestsBeyond = (levels: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => nestsBeyond(levels - 1, inner)));

export function refuseDeep(value: unknown, at: string): void {
  if (nestsBeyond(MOST_LEVELS, value))
    throw invalid(at, "item_too_deep", `"${at}" nests more than ${MOST_LEVELS} levels deep.`);
}
