/** A call that waits for approval as lines: why it is asked about, with a stranger's words marked, and what it would do. */

import { type Piece, tell } from "../../../kernel/kit.ts";
import type { Gate } from "../../../kernel/plugin.ts";
import { hang, plain } from "./text/lines.ts";
import type { Palette } from "./text/palette.ts";

export function approvalLines(
  { call, grants, doubts = [], others = [] }: Extract<Gate, { type: "approval" }>,
  width: number,
  palette: Palette,
): string[] {
  const name = plain(call.name);
  const line = (text: string) => hang("    ", "    ", text, width);
  const head = (text: string) => hang(palette.warning("  ? "), "    ", text, width);
  const lines = doubts.length === 0 ? head(palette.strong(`${name} needs your approval.`)) : [];
  for (const [at, { sentence, excerpt }] of tell(doubts).entries()) {
    lines.push(
      ...(at === 0 ? head(paint(sentence, palette, palette.strong)) : line(paint(sentence, palette))),
    );
    if (excerpt) lines.push(...hang("    │ ", "    │ ", paint(excerpt, palette, palette.faint), width));
  }
  if (others.length === 0) lines.push(...line(`params ${plain(call.params)}`));
  else {
    const calls = [call, ...others];
    lines.push(...line(`${calls.length} calls of ${name}. Your answer is for all of them:`));
    for (const [at, { params }] of calls.entries())
      lines.push(...hang(`    ${at + 1} `, "      ", plain(params), width));
  }
  return [...lines, ...grants.flatMap((grant) => hang("    • ", "      ", plain(grant), width))];
}

/** Underlined, a value stands out without colours too. */
function paint(pieces: readonly Piece[], palette: Palette, rest = (text: string) => text): string {
  return pieces
    .map(({ text, mark }) => {
      const shown = plain(text);
      if (mark === "value") return palette.underlined(shown);
      return mark === "source" ? palette.warning(shown) : rest(shown);
    })
    .join("");
}
