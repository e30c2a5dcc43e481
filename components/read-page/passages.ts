/** A long text in pieces: one page of it, or the passages that hold what somebody looks for. */

/** About 3,000 tokens. */
const PAGE_LENGTH = 12_000;
const MAX_PASSAGES = 20;

/** Cut between paragraphs wherever one ends in the second half of a page. */
export function paginate(text: string): string[] {
  const pages: string[] = [];
  let at = 0;
  while (text.length - at > PAGE_LENGTH) {
    const end = at + PAGE_LENGTH;
    // Only there: looking back through all of a text without a gap takes time with its square.
    const half = text.slice(end - PAGE_LENGTH / 2, end);
    const place = ["\n\n", "\n", " "].map((gap) => half.lastIndexOf(gap)).find((found) => found > 0);
    const cut = place === undefined ? end : end - PAGE_LENGTH / 2 + place;
    pages.push(text.slice(at, cut).trim());
    at = cut;
  }
  pages.push(text.slice(at).trim());
  return pages;
}

/** The paragraphs with these words, each below its heading; first those with the phrase, else those with every word. */
export function find(text: string, words: string): readonly string[] {
  const paragraphs = text.split(/\n{2,}/);
  const phrase = normal(words);
  const terms = phrase.split(" ").filter((term) => term.length > 1);
  const folded = paragraphs.map(normal);
  let hits = where(folded, (paragraph) => paragraph.includes(phrase));
  if (hits.length === 0) hits = where(folded, (paragraph) => terms.every((term) => paragraph.includes(term)));
  if (hits.length === 0) hits = where(folded, (paragraph) => terms.some((term) => paragraph.includes(term)));
  let heading = "";
  let length = 0;
  const isHit = new Set(hits);
  const passages: string[] = [];
  for (const [at, paragraph] of paragraphs.entries()) {
    const isHeading = /^#{1,6} /.test(paragraph);
    if (isHeading) heading = paragraph;
    // The first paragraph below a heading that says it is what somebody looks for.
    const isWanted = isHit.has(at) || (isHit.has(at - 1) && paragraphs[at - 1] === heading && !isHeading);
    if (!isWanted || isHeading) continue;
    const passage = heading === "" ? paragraph : `${heading}\n\n${paragraph}`;
    length += passage.length;
    if (passages.length >= MAX_PASSAGES || length > PAGE_LENGTH) break;
    passages.push(passage);
  }
  return passages;
}

function where(paragraphs: readonly string[], isHit: (paragraph: string) => boolean): number[] {
  return paragraphs.flatMap((paragraph, at) => (isHit(paragraph) ? [at] : []));
}

function normal(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}
