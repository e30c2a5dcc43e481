/** "Did you mean": the known name that a mistyped one is nearest to. */

/** Two changes in a short name make another word of it. */
const SHORT_LENGTH = 9;
const MIN_LENGTH = 4;

export function findSimilar(typed: string, known: Iterable<string>): string | undefined {
  const most = typed.length < SHORT_LENGTH ? 1 : 2;
  if (typed.length < MIN_LENGTH) return undefined;
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    if (Math.abs(name.length - typed.length) > most) continue;
    const distance = distanceOf(typed.toUpperCase(), name.toUpperCase(), most);
    if (distance <= most && distance < (best?.distance ?? most + 1)) best = { name, distance };
  }
  return best?.name;
}

/** How many letters were left out, added, mistaken, or swapped with their neighbour; above `most` it is not counted to the end. */
function distanceOf(from: string, to: string, most: number): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const cost = from[i - 1] === to[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + cost,
        ...(swapped ? [(before[j - 2] ?? 0) + 1] : []),
      );
    }
    [before, row] = [row, next];
    if (Math.min(...before, ...row) > most) break;
  }
  return row[to.length] ?? 0;
}
