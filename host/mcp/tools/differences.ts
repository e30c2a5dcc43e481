/** What changed about a tool, line by line, as a diff shows it. */
import type { Definition } from "./definition.ts";

const MOST_LINES = 400;
/** Two texts of so many lines each are compared line by line; longer ones are shown one after the other. */
const MOST_COMPARED = 1000;

export function differences(before: Definition | undefined, after: Definition): readonly string[] {
  const lines = compare(before === undefined ? [] : linesOf(before), linesOf(after));
  // What is beyond what is kept of a text differs too.
  if (lines.length === 0) return ["what differs is beyond the part of the description that is shown"];
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), `${more} more lines`] : lines;
}

function linesOf({
  title,
  description,
  schema,
  outputSchema,
  readOnly,
  destructive,
  openWorld,
}: Definition): string[] {
  const pretty = (value: unknown) => JSON.stringify(value, undefined, 2).split("\n");
  return [
    ...(title === undefined ? [] : [`title: ${title}`]),
    "description:",
    ...description.split("\n").map((line) => `  ${line}`),
    `read-only: ${readOnly}, destructive: ${destructive}, open world: ${openWorld}`,
    "params:",
    ...pretty(schema),
    ...(outputSchema === undefined ? [] : ["output:", ...pretty(outputSchema)]),
  ];
}

/** The longest common lines stay; the others are taken out and put in. */
function compare(before: readonly string[], after: readonly string[]): string[] {
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
  if (old.length > MOST_COMPARED || fresh.length > MOST_COMPARED)
    return [...old.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)];
  return merge(old, fresh);
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
      one++;
      other++;
    } else if (other >= fresh.length || (one < old.length && at(one + 1, other) >= at(one, other + 1)))
      lines.push(`- ${old[one++]}`);
    else lines.push(`+ ${fresh[other++]}`);
  }
  return lines;
}
