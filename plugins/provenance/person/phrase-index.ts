/** Finds runs of words in a text in the time it takes to read them: the text may repeat one word ten thousand times. */

/** Returns how many of some words, from the given one on, stand in a row somewhere. */
export type CountRun = (words: readonly string[], from: number) => number;

/** A suffix automaton over words: every run of the text is a walk from its root. */
export function phrasesIn(words: readonly string[]): CountRun {
  const next: Map<string, number>[] = [new Map()];
  const length = [0];
  const link = [-1];
  const add = (size: number, edges: Map<string, number>, to: number): number => {
    next.push(edges);
    length.push(size);
    link.push(to);
    return next.length - 1;
  };
  let last = 0;
  for (const word of words) {
    const state = add((length[last] ?? 0) + 1, new Map(), 0);
    let at = last;
    while (at !== -1 && next[at]?.has(word) === false) {
      next[at]?.set(word, state);
      at = link[at] ?? -1;
    }
    const known = at === -1 ? undefined : next[at]?.get(word);
    if (known !== undefined) {
      const size = (length[at] ?? 0) + 1;
      if (length[known] === size) link[state] = known;
      else {
        const copy = add(size, new Map(next[known]), link[known] ?? 0);
        link[known] = copy;
        link[state] = copy;
        while (at !== -1 && next[at]?.get(word) === known) {
          next[at]?.set(word, copy);
          at = link[at] ?? -1;
        }
      }
    }
    last = state;
  }
  return (asked, from) => {
    let state: number | undefined = 0;
    let size = -1;
    while (state !== undefined) {
      size++;
      state = next[state]?.get(asked[from + size] ?? "");
    }
    return size;
  };
}
