/** Which tool a message is about: by the words of its name, schema and description, and by what it can be filled with. */

import { stem, wordsOfName } from "../../../../kernel/kit.ts";
import type { ModelTool } from "../model.ts";
import { type Filled, fill } from "./fill.ts";
import type { Heard } from "./reading.ts";
import { type Branch, branchesOf, textOf } from "./schema.ts";
import { contentStems, isGeneric } from "./words.ts";

export interface Candidate {
  readonly tool: ModelTool;
  readonly branch: Branch;
  readonly filled: Filled;
  readonly score: number;
}

/** From here on a message is taken to mean the tool. */
const CONFIDENT = 2;
/** Two tools nearer than this fit alike. */
const CLOSE = 0.5;

/** What marks the words of others is none of them. */
const OUTSIDE = /<\/?outside\b[^<>]{0,80}>/g;

/** The tool that is meant, or several that fit alike, or none. */
export function choose(heard: Heard, tools: readonly ModelTool[]): readonly Candidate[] {
  const isAboutMemory = /\bmemory|\bnotes?\b|\.md\b/i.test(heard.text);
  const candidates = tools
    .filter(({ name }) => isAboutMemory || !name.startsWith("memory_"))
    .flatMap((tool) => weigh(tool, heard) ?? [])
    .filter(({ score }) => score >= CONFIDENT)
    .sort((one, other) => other.score - one.score);
  const [top] = candidates;
  if (!top) return [];
  // `weather` and `get_weather` do the same. The tools that a caller declares come last, and are the ones meant.
  const same = candidates.filter(({ tool }) => isLike(tool, top.tool) || isLike(top.tool, tool));
  const last = tools.findLast((tool) => same.some((one) => one.tool === tool));
  if (last !== top.tool) return same.filter(({ tool }) => tool === last);
  return candidates.filter(({ score }) => top.score - score < CLOSE);
}

/** One name is the other with a word like "get" added. */
function isLike(one: ModelTool, other: ModelTool): boolean {
  const [long, short] = [one, other].map(({ name }) => new Set(wordsOfName(name).map(stem)));
  return !!long && !!short && short.isSubsetOf(long) && [...long.difference(short)].every(isGeneric);
}

/** The tool with the parameters it would be called with, in the branch that fits best. */
export function weigh(tool: ModelTool, heard: Heard): Candidate | undefined {
  const candidates = branchesOf(tool.schema).flatMap((branch) => {
    const words = scoreOf(tool, branch, heard);
    if (words <= 0) return [];
    const filled = fill(tool, branch, heard);
    return [{ tool, branch, filled, score: words + (filled.missing.length === 0 ? 0.4 : 0) }];
  });
  return candidates.sort((one, other) => other.score - one.score)[0];
}

function scoreOf(tool: ModelTool, branch: Branch, heard: Heard): number {
  const stems = (names: readonly string[]) => new Set(names.flatMap(wordsOfName).map(stem));
  const [name, fixed] = [stems([tool.name]), Object.values(branch.fixed).map(textOf)];
  const names = name.union(stems(fixed));
  const inputs = stems(branch.properties.flatMap((one) => [one.name, ...one.choices.map(textOf)])).difference(
    names,
  );
  const description = tool.description.slice(0, 1000).replaceAll(OUTSIDE, " ");
  const about = contentStems(`${description} ${branch.description}`);
  const said = (words: ReadonlySet<string>) =>
    [...words].filter((word) => heard.stems.has(word) && !/^\p{N}/u.test(word));
  // A tool called just "search" or "add" is meant by that word.
  const worth = (word: string) => (isGeneric(word) && ![...name].every(isGeneric) ? 0.8 : 3);
  const named = sum(said(names).map(worth));
  // `weather` is meant rather than `weather_pro` where nobody says "pro".
  const unsaid = [...name].filter((word) => !heard.stems.has(word) && !isGeneric(word)).length;
  // What a tool is given is not what it is about: a weather tool is not about cities.
  const told = said(about.difference(names).difference(inputs)).map((word) => (isGeneric(word) ? 0.5 : 1));
  const given = Math.min(1, 0.7 * said(inputs).length);
  // "Tomorrow" means the forecast, not the weather now.
  const isLater =
    heard.isLater &&
    /\b(?:forecast|days|week)\b/.test([...fixed.flatMap(wordsOfName), branch.description].join(" "));
  return (
    Math.min(8, named) - (named > 0 ? 0.6 * unsaid : 0) + Math.min(3, sum(told)) + given + (isLater ? 0.5 : 0)
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
