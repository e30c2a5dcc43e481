/** How two texts differ, line by line. Bounded: texts that differ too much are not compared. */

const MAX_EDITS = 600;
const TIMEOUT_MS = 300;

/** Each line begins with its sign and a space. Texts that differ too much are shown one after the other. */
export async function diffLines(before: string, after: string): Promise<readonly string[]> {
  // Loaded when it is first used, since few ask for it.
  const { structuredPatch } = await import("diff");
  const options = { context: 2, maxEditLength: MAX_EDITS, timeout: TIMEOUT_MS };
  // A last line without a line feed would be told apart from the same line with one.
  const [from, to] = [before, after].map((text) => (text === "" || text.endsWith("\n") ? text : `${text}\n`));
  const patch = structuredPatch("", "", from ?? "", to ?? "", "", "", options);
  if (patch) return patch.hunks.flatMap(({ lines }) => lines.map((line) => `${line[0]} ${line.slice(1)}`));
  const all = (sign: string, text: string) =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => `${sign} ${line}`);
  return [...all("-", before), ...all("+", after)];
}
