/** What changed about a tool, line by line, as a diff shows it. */
import { compareLines } from "../../../kernel/kit.ts";
import type { Definition } from "./definition.ts";

const MOST_LINES = 400;

export function differences(before: Definition | undefined, after: Definition): readonly string[] {
  const lines = compareLines(before === undefined ? [] : linesOf(before), linesOf(after));
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
