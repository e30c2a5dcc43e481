/** What a call of the model changed in a file, for the person who reads along. It is kept with the call, so it is bounded. */
import type { TextThreads } from "../../../kernel/kit/concurrency.ts";
import type { FileChange } from "../../../kernel/kit/tools.ts";

/** Longer files are not compared. */
export const MAX_COMPARED_BYTES = 256 * 1024;
const MAX_LINES = 200;
const MAX_LINE_LENGTH = 300;

/** Undefined if the texts cannot be compared: the change itself is made, so it must not fail. */
export async function compareTexts(
  { diff }: Pick<TextThreads, "diff">,
  path: string,
  before: string,
  after: string,
): Promise<FileChange | undefined> {
  if (Math.max(before.length, after.length) > MAX_COMPARED_BYTES) return undefined;
  const all = await diff(before, after).catch(() => undefined);
  if (all === undefined) return undefined;
  const lines = all.slice(0, MAX_LINES).map(cutLine);
  const isCut = lines.length < all.length || lines.some((line, at) => line !== all[at]);
  const count = (sign: string) => all.filter((line) => line.startsWith(sign)).length;
  return { path, added: count("+"), removed: count("-"), lines, ...(isCut && { isCut }) };
}

const cutLine = (line: string): string =>
  line.length <= MAX_LINE_LENGTH ? line : `${line.slice(0, MAX_LINE_LENGTH).toWellFormed()}…`;
