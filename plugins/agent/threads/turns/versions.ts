/** One path of a branched thread as people read it, and what stands beside the turns on it. */
import type { Queries } from "../../../../kernel/plugin.ts";
import type { TurnVersions } from "../../services.ts";

/** A turn that does not go on from the one before it. */
interface Jump {
  readonly seq: number;
  readonly parent_seq: number;
}

/** Numbers of turns, both included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface ShownPath {
  /** Newest first; only turns of the path have numbers in them. */
  readonly ranges: readonly Range[];
  readonly jumps: readonly Jump[];
}

/** A turn and the number of the one it goes on from, 0 for none. */
interface Placed {
  readonly id: string;
  readonly parent: number;
}

const END = Number.MAX_SAFE_INTEGER;
/** More of one message than anybody steps through. */
const MAX_VERSIONS = 200;

/** The path to the turn with this number, and on to the newest turn after it. */
export async function readShownPath(queries: Queries, thread: string, seq: number): Promise<ShownPath> {
  const find = `SELECT seq, parent_seq FROM turns INDEXED BY turns_branching
    WHERE thread = ? AND parent_seq IS NOT NULL ORDER BY seq`;
  const jumps = await queries.all<Jump>(find, thread);
  const ranges: Range[] = [];
  let at = newestBelow(jumps, seq);
  for (const jump of jumps.toReversed()) {
    if (jump.seq > at) continue;
    ranges.push({ from: jump.seq, to: at });
    at = jump.parent_seq;
  }
  return { ranges: at > 0 ? [...ranges, { from: 1, to: at }] : ranges, jumps };
}

/** No turn of its branch has a higher number than this, and all up to it are of that branch. */
function newestBelow(jumps: readonly Jump[], seq: number): number {
  // A stretch is what is between two jumps: each of its turns goes on from the one before. The first is before all jumps.
  const first = stretchOf(jumps, seq);
  const after = new Set<number>();
  let newest = first;
  for (let stretch = first + 1; stretch <= jumps.length; stretch++) {
    const parent = (jumps[stretch - 1] as Jump).parent_seq;
    const from = stretchOf(jumps, parent);
    if (!(from === first && parent >= seq) && !after.has(from)) continue;
    after.add(stretch);
    newest = stretch;
  }
  const next = jumps[newest];
  return next === undefined ? END : next.seq - 1;
}

/** How many jumps are not after this number. */
function stretchOf(jumps: readonly Jump[], seq: number): number {
  let [low, high] = [0, jumps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((jumps[middle] as Jump).seq <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the turns that have other versions. */
export async function readVersions(
  queries: Queries,
  thread: string,
  jumps: readonly Jump[],
  turns: readonly Placed[],
): Promise<readonly TurnVersions[]> {
  const beside = Map.groupBy(jumps, ({ parent_seq }) => parent_seq);
  const found = await Promise.all(
    turns.map(async ({ id, parent }) => {
      const others = beside.get(parent)?.slice(-MAX_VERSIONS);
      return others && { turn: id, versions: await readSiblings(queries, thread, parent, others) };
    }),
  );
  return found.filter((each) => each !== undefined && each.versions.length > 1) as TurnVersions[];
}

interface Sibling {
  readonly id: string;
  readonly parent_seq: number | null;
  readonly same: number;
}

async function readSiblings(
  queries: Queries,
  thread: string,
  parent: number,
  others: readonly Jump[],
): Promise<TurnVersions["versions"]> {
  // The turn after the parent goes on from it too, unless that is a jump from elsewhere.
  const find = `SELECT id, parent_seq, min(seq) OVER (PARTITION BY input) AS same FROM turns
    WHERE thread = ? AND (seq IN (${others.map(() => "?").join()})
      OR seq = (SELECT min(next.seq) FROM turns AS next WHERE next.thread = ? AND next.seq > ?)) ORDER BY seq`;
  const seqs = others.map(({ seq }) => seq);
  const rows = await queries.all<Sibling>(find, thread, ...seqs, thread, parent);
  const siblings = rows.filter(({ parent_seq }) => (parent_seq ?? parent) === parent);
  const messages = [...new Set(siblings.map(({ same }) => same))];
  return siblings.map(({ id, same }) => ({ id, message: messages.indexOf(same) + 1 }));
}
