/** Text that somebody else wrote, put into a Markdown document of ours so that it cannot change what stands around it. */

/** A block that is shown as it is, and that its text cannot end. */
export function fence(text: string, language = ""): string {
  const marks = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${marks}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${marks}`;
}

/** A line that is shown as it is. */
export function inCode(line: string): string {
  const marks = "`".repeat(longestRun(line) + 1);
  const space = /^[` ]|[` ]$/.test(line) || line === "" ? " " : "";
  return marks + space + line + space + marks;
}

/** A line in which nothing is a mark. */
export function plain(line: string): string {
  return line.replace(/[\\`*_{}[\]<>#|~$!&]/g, "\\$&");
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/**
 * Markdown as it was written, with HTML as text, as on the page: a comment or a folded section that is never closed would
 * hide all that follows. Where Markdown's readers could differ on what is code in it, or a block of code is left open, all of it
 * is shown as it is.
 */
export function contain(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").trim().split("\n");
  return withoutTags(lines)?.join("\n") ?? fence(lines.join("\n"), "markdown");
}

// The beginning of a tag, a comment or a declaration; an address in angle brackets stays one.
const TAG = /<(?!(?:https?:|mailto:)[^\s<>`|]*>)(?=[a-z/!?])/gi;
const hasTag = (line: string) => line.search(TAG) !== -1;
// Also one in a list or a quote, which end before the block does.
const FENCE = /^([\s>*+\-\d.)]*)(`{3,}|~{3,})/;

/** Undefined where it is not certain. */
function withoutTags(lines: readonly string[]): readonly string[] | undefined {
  let open: { readonly indent: string; readonly marks: string } | undefined;
  let isBalanced = true;
  let hasTagInCode = false;
  const written: string[] = [];
  for (const line of lines) {
    const [whole = "", indent = "", marks] = FENCE.exec(line) ?? [];
    const info = line.slice(whole.length);
    if (open !== undefined) {
      const isInside = line.trim() === "" || line.startsWith(open.indent);
      if (!isInside || (open.indent !== "" && hasTag(line))) return undefined;
      written.push(line);
      const isEnd = marks?.startsWith(open.marks) && info.trim() === "";
      if (isEnd && indent !== open.indent) return undefined;
      if (isEnd) open = undefined;
    } else if (marks !== undefined && !info.includes("`")) {
      if (indent.trim() !== "" || info.includes("<")) return undefined;
      written.push(line);
      open = { indent, marks };
    } else {
      const prose = readProse(line);
      isBalanced &&= prose.isBalanced;
      hasTagInCode ||= prose.hasTagInCode;
      written.push(prose.text);
    }
  }
  return open === undefined && (isBalanced || !hasTagInCode) ? written : undefined;
}

interface Prose {
  readonly text: string;
  /** All code that begins in the line ends in it, so the next one is read on its own. */
  readonly isBalanced: boolean;
  readonly hasTagInCode: boolean;
}

function readProse(line: string): Prose {
  const runs = [...line.matchAll(/`+/g)];
  // Those that may end a piece of code, the next one last: none is looked at twice.
  const ends = Map.groupBy(runs.toReversed(), ([run]) => run.length);
  const parts: string[] = [];
  let from = 0;
  let isBalanced = !line.includes("\\`");
  let hasTagInCode = false;
  for (const { 0: run, index } of runs) {
    if (index < from) continue;
    const same = ends.get(run.length) ?? [];
    while ((same.at(-1)?.index ?? Number.POSITIVE_INFINITY) <= index) same.pop();
    const end = same.at(-1);
    if (end === undefined) {
      isBalanced = false;
      continue;
    }
    const code = line.slice(index, end.index + run.length);
    const before = line.slice(from, index);
    parts.push(before.replace(TAG, "&lt;"), code);
    from = index + code.length;
    hasTagInCode ||= hasTag(code);
    // In a table a bar ends the cell, and the code in it.
    isBalanced &&= !code.includes("|") && !endsInAddress(before);
  }
  parts.push(line.slice(from).replace(TAG, "&lt;"));
  return { text: parts.join(""), isBalanced, hasTagInCode };
}

/** A backtick may be part of an address, and then begins no code. */
function endsInAddress(text: string): boolean {
  const word = text.slice(Math.max(text.lastIndexOf(" "), text.lastIndexOf("\t")) + 1);
  return /:\/\/|www\.|@/.test(word);
}
