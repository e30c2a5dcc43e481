/** `postern explain`: where the values of a turn's calls came from. */

import type { Command } from "commander";
import { toWire } from "../../../kernel/kit/schema.ts";
import { relativeTime, say, sayJson, table } from "../../../kernel/kit/terminal.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { ExplainedCall, ExplainedValue } from "../explained.ts";
import { ExplainedTurn } from "../explained.ts";

export function register(command: Command, context: CommandContext): void {
  command
    .argument("[turn_id]", "the turn; without one, the latest that called a tool")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Each value of a call was said by the user, comes from somebody else (a tool's output, a page, a file, memory that was
written from such), or was written by the model. RULE is what decides about it today: why it needs no question; what
asks is told below. A call waits for an answer where PROVENANCE=ask doubts one of them.

Examples:
  $ postern explain
  $ postern explain 019a8c52-6b1d-7f6e-8a44-3c1f7a0f8d11 --json`,
    )
    .action((id: string | undefined, { json = false }: { json?: boolean }) =>
      context.with(["provenance"], async ({ provenance }) => {
        const explained = await provenance.explain(id);
        if (explained === undefined) throw missing(id);
        if (json) sayJson(toWire(ExplainedTurn, explained));
        else say(inWords(explained));
      }),
    );
}

function missing(id: string | undefined): Fault {
  const message = id === undefined ? "no turn has called a tool yet" : `there is no turn ${visibleLine(id)}`;
  return new Fault("missing", "turn_not_found", message);
}

function inWords({ turn, thread, user, createdAt, calls }: ExplainedTurn): string {
  const head = `Turn ${turn} of ${visibleLine(user)}, ${relativeTime(createdAt)}, on thread ${thread}\n`;
  if (calls.length === 0) return `${head}It called no tools.\n`;
  return `${head}${calls.map(callInWords).join("")}`;
}

const RULES: Readonly<Record<NonNullable<ExplainedValue["rule"]>, string>> = {
  alone: "nobody else had said anything",
  approved: "you approved it for this tool",
  planned: "a step of the plan that you agreed to",
  carried: "it follows from a yes of this turn",
  rule: "a rule of yours",
  trusted: "a trusted destination",
  default: "the tool's default",
  said: "your words",
  named: "your words name it in a list",
  largest: "the largest or smallest, as you said",
  begun: "the only one that begins as you said",
  resolved: "where you said that it stands",
  kept: "read and kept at your word",
  little: "reading, and says nothing new",
  link: "a link of a page that was read",
  // A sentence below the table says why.
  asks: "",
};

const WHY_FREE: Readonly<Record<ExplainedCall["ran"], string>> = {
  callers: "run by the connected app: not judged",
  own: "one of the agent's own: not judged",
  gated: "nothing to ask about",
};

function callInWords({ tool, ran, outcome, values, doubts, calls }: ExplainedCall): string {
  const rows = values.map(({ param, role, value, sentence, rule, allows }) => [
    param,
    role,
    `“${value}”`,
    sentence,
    rule === undefined ? "" : `${RULES[rule]}${allows === undefined ? "" : `: ${allows}`}`,
  ]);
  const why = doubts.map(({ sentence }) => `  ? ${visibleLine(sentence)}\n`).join("");
  const ruling = doubts.length > 0 ? "to be asked about" : WHY_FREE[ran];
  const rowOf = (call: ExplainedCall["calls"][number]) => [
    `└ ${visibleLine(call.tool)}`,
    visibleLine(call.outcome),
    `${Math.round(call.millis)} ms`,
    visibleLine(call.message ?? ""),
  ];
  const within =
    calls.length === 0
      ? ""
      : table(["CALLED INSIDE", "OUTCOME", "TOOK", ""], calls.map(rowOf), { indent: "  " });
  return `\n${visibleLine(tool)} (${visibleLine(outcome)}; ${ruling})\n${table(["PARAM", "IS", "VALUE", "WHERE IT COMES FROM", "RULE"], rows, { indent: "  " })}${why}${within}`;
}
