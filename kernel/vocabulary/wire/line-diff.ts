/** How two texts differ, line by line: "- " was there, "+ " is new, two blanks before what both have. */

/** Two texts of so many lines each are compared line by line; longer ones are shown one after the other. */
const MOST_COMPARED = 1000;

/** The longest common lines stay; the others are taken out and put in. `context`: how many common lines are shown around. */
export function compareLines(
  before: readonly string[],
  after: readonly string[],
  { context = 0 }: { readonly context?: number } = {},
): string[] {
  const start = before.findIndex((line, at) => line !== after[at]);
  const same = start < 0 ? Math.min(before.length, after.length) : start;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - same &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const old = before.slice(same, before.length - end);
  const fresh = after.slice(same, after.length - end);
  if (old.length === 0 && fresh.length === 0) return [];
  const middle =
    old.length > MOST_COMPARED || fresh.length > MOST_COMPARED
      ? [...old.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)]
      : merge(old, fresh);
  const kept = (lines: readonly string[]) => lines.map((line) => `  ${line}`);
  const lines = [...kept(before.slice(0, same)), ...middle, ...kept(before.slice(before.length - end))];
  return near(lines, context);
}

/** What changed, and so many common lines before and after it. */
function near(lines: readonly string[], context: number): string[] {
  const isShown = new Uint8Array(lines.length);
  for (const order of [lines.keys(), [...lines.keys()].reverse()]) {
    let left = 0;
    for (const at of order) {
      const isChange = !(lines[at] as string).startsWith("  ");
      if (isChange) left = context;
      if (isChange || left-- > 0) isShown[at] = 1;
    }
  }
  return lines.filter((_, at) => isShown[at] === 1);
}

function merge(old: readonly string[], fresh: readonly string[]): string[] {
  // How long the longest common part of the rests is, from each place on.
  const width = fresh.length + 1;
  const longest = new Uint16Array((old.length + 1) * width);
  const at = (one: number, other: number) => longest[one * width + other] as number;
  for (let one = old.length - 1; one >= 0; one--)
    for (let other = fresh.length - 1; other >= 0; other--)
      longest[one * width + other] =
        old[one] === fresh[other]
          ? at(one + 1, other + 1) + 1
          : Math.max(at(one + 1, other), at(one, other + 1));
  const lines: string[] = [];
  let one = 0;
  let other = 0;
  while (one < old.length || other < fresh.length) {
    if (one < old.length && other < fresh.length && old[one] === fresh[other]) {
      lines.push(`  ${old[one++]}`);
      other++;
    } else if (other >= fresh.length || (one < old.length && at(one + 1, other) >= at(one, other + 1)))
      lines.push(`- ${old[one++]}`);
    else lines.push(`+ ${fresh[other++]}`);
  }
  return lines;
}
