/** Texts to search in. */
const VOCABULARY = 20_000;

/** The same numbers in every run. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Words as languages have them: few are common, most are rare. */
export function createWriter(random: () => number): (count: number) => string {
  const shares: number[] = [];
  let total = 0;
  for (let rank = 1; rank <= VOCABULARY; rank++) {
    total += 1 / rank;
    shares.push(total);
  }
  const word = () => {
    const wanted = random() * total;
    let low = 0;
    let high = VOCABULARY - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((shares[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return `word${low}x`;
  };
  return (count) => Array.from({ length: count }, word).join(" ");
}
