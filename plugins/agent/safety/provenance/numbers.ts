/** Numbers as people write them. */

export const SPOKEN = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

/** Every reading: 1.200 is a thousand and two hundred to some, and a little over one to others. */
export function numbersIn(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [written] of text.matchAll(/\d[\d.,]*/g)) {
    const trimmed = written.replace(/[.,]+$/, "");
    found.add(Number(trimmed.replaceAll(",", "")));
    found.add(Number(trimmed.replaceAll(".", "").replace(",", ".")));
  }
  for (const [at, word] of SPOKEN.entries()) if (new RegExp(`\\b${word}\\b`).test(text)) found.add(at);
  found.delete(Number.NaN);
  return found;
}
