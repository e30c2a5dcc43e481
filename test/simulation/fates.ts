/** What goes wrong in a world, and where: each thing at one write or request of one node. */

export type Trouble =
  | "crash before"
  | "crash after"
  | "lost answer"
  | "cut connection"
  | "clock jump"
  | "long stop";

export interface Fate {
  /** Such as "node 2: update jobs 3", the third write of its kind. */
  readonly at: string;
  readonly trouble: Trouble;
  /** How long it lasts, or how far the clock jumps. */
  readonly millis: number;
}

/** A process alone with its file hears every answer. */
const ALONE: readonly Trouble[] = ["crash before", "crash after", "clock jump", "long stop"];
const TOGETHER: readonly Trouble[] = [
  ...ALONE,
  "crash before",
  "lost answer",
  "lost answer",
  "cut connection",
];
/** How many worlds know one kind of trouble alone, which then comes more often than where there are many. */
const NARROW = 0.5;
/** What is written all the time is where the fewest mistakes are. */
const DULL = /insert nodes|changes|repeated_work|messaging_channels/;

/** Where a node starts, whose clock may be wrong from then on. */
const START = /: start /;
const AT_STARTS = 0.15;
/** Where a node has claimed something, to work on it. */
const CLAIM = /: claim of /;
/** How much more often a node stops there than anything goes wrong elsewhere. */
const AT_CLAIMS = 3;
/** Long enough that others take it for dead, and take over. */
const MIN_STOP_MS = 15_000;

/** Draws them as the world goes on. `chanceAtClaims` is for claims alone, so that what is drawn elsewhere does not depend on them. */
export function drawFates(
  chance: () => number,
  chanceAtClaims: () => number,
  chanceOfKind: () => number,
  isFleet: boolean,
  rate: number,
) {
  const all = isFleet ? TOGETHER : ALONE;
  const [draw, which] = [chanceOfKind(), chanceOfKind()];
  const troubles = draw < NARROW ? [all[Math.floor(which * all.length)] as Trouble] : all;
  return (at: string): Fate | undefined => {
    if (START.test(at)) {
      const [draw, size] = [chanceOfKind(), chanceOfKind()];
      const isWrong = isFleet && rate > 0 && draw < AT_STARTS;
      return isWrong ? { at, trouble: "clock jump", millis: millisOf("clock jump", size) } : undefined;
    }
    if (CLAIM.test(at)) {
      const [draw, size] = [chanceAtClaims(), chanceAtClaims()];
      const isStopped = isFleet && draw < (DULL.test(at) ? rate / 20 : rate * AT_CLAIMS);
      return isStopped
        ? { at, trouble: "long stop", millis: MIN_STOP_MS + Math.floor(size * 45_000) }
        : undefined;
    }
    const [draw, which, size] = [chance(), chance(), chance()];
    if (draw >= (DULL.test(at) ? rate / 20 : rate)) return undefined;
    const trouble = troubles[Math.floor(which * troubles.length)] as Trouble;
    return { at, trouble, millis: millisOf(trouble, size) };
  };
}

export function repeatFates(fates: readonly Fate[]) {
  const known = new Map(fates.map((fate) => [fate.at, fate]));
  return (at: string): Fate | undefined => known.get(at);
}

function millisOf(trouble: Trouble, size: number): number {
  if (trouble === "cut connection") return Math.floor(size ** 3 * 40_000);
  if (trouble === "clock jump") return Math.floor((size - 0.5) * 7_200_000);
  if (trouble === "long stop") return 1000 + Math.floor(size * 60_000);
  return 0;
}
