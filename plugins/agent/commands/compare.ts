/** `postern models compare`: stored turns replayed with another model, next to what came of them when they ran. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import {
  agree,
  type JsonOption,
  say,
  sayJson,
  sayText,
  verb,
  warn,
  wholeNumber,
} from "../../../kernel/kit/terminal.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { Usage } from "../../../kernel/kit/turns.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { ComparedSide, ComparedTurn, Comparison } from "../services.ts";
import { costOf, counted, inPage, secondsOf, summaryOf, VERDICTS } from "./comparison-page.ts";
import { findThread, writeNew } from "./thread.ts";

interface Options extends JsonOption {
  readonly provider?: string;
  readonly last?: number;
  readonly thread?: readonly string[];
  readonly user: string;
  readonly again?: boolean;
  readonly page?: string;
  readonly replace?: boolean;
  readonly yes?: boolean;
}

const MAX_LAST = 1000;

export function register(group: Command, context: CommandContext): void {
  verb(
    group,
    "compare <model>",
    "replay stored turns with another model and compare",
    "models compare gpt-6.1-terra",
    "models compare claude-sonnet-5 --last 20 --page compare.html",
    "models compare builtin --thread 0c9c2a52 --json",
  )
    .option("--provider <name>", "the model's provider, if several have one of that name")
    .option(
      "--last <count>",
      "how many of the newest turns to replay (default: 50; with --thread, all)",
      wholeNumber(MAX_LAST),
    )
    .option("--thread <ids...>", "the turns of these threads; the beginning of an id is enough")
    .option("--user <user_id>", "the user whose turns are replayed", OPERATOR)
    .option("--again", "replay turns again that were already replayed")
    .option("--page <file>", "write a page to read in a browser; an existing file is not overwritten")
    .option("--replace", "replace the page if it is there")
    .option("--yes", "agree to the cost and to who gets the texts")
    .addHelpText("after", ABOUT)
    .action((name: string, options: Options) =>
      context.with(["comparisons", "threads"], async ({ comparisons, threads }) => {
        const { user, provider, last, again = false, thread, json = false } = options;
        const found = thread && (await Promise.all(thread.map((id) => findThread(threads, user, id))));
        const comparison = await comparisons.prepare({
          ...{ user, last, again, model: { name, ...(provider && { provider }) } },
          threads: found?.map(({ id }) => id),
        });
        if (comparison.turns === 0 && !json) return say("There are no turns to compare.\n");
        if (comparison.missing > 0) {
          warn(`${costInWords(comparison)}\n`);
          await agree("Replay them?", options);
        }
        const { turns, stopped } = await replayAll(comparison, json);
        if (json) sayJson(toJson(comparison, turns), 2);
        else say(`\n${summaryOf(comparison.model, turns)}\n`);
        if (options.page !== undefined) {
          const file = resolve(context.folder, options.page);
          await writeNew(file, inPage(comparison.model, turns), options.replace ?? false);
          warn(`Wrote ${file}.\n`);
        }
        if (stopped) throw stopped;
      }),
    );
}

const ABOUT = `
Tools answer from their recorded results: nothing is executed, and nothing is written to the threads. A replay uses today's
instructions, memory, tools and approvals, but the date of the turn. It ends with "differs here" at a call that has no recorded
result. Questions are the calls that need a person's approval; calls that were answered with "always" before do not count.
Results are kept: the same command continues after Ctrl-C, or after the daily cap was reached.`;

function costInWords({ model, host, turns, missing, estimate }: Comparison): string {
  const known = turns === missing ? "" : ` (${turns - missing} of ${turns} replayed already)`;
  const to = host === undefined ? "the texts stay in this process" : `the texts go to ${host}`;
  return `${counted(missing, "turn")} to replay with ${model.name} (${model.provider})${known}: ${to}. Estimated cost: ${costOf(estimate)}.`;
}

/** Ends early on Ctrl-C and at the daily cap, with what there is until then. */
async function replayAll(comparison: Comparison, isQuiet: boolean) {
  const turns: ComparedTurn[] = [];
  const stopper = new AbortController();
  const stop = () =>
    stopper.abort(new Fault("turn", "cancelled", "Stopped. The same command continues the comparison."));
  process.once("SIGINT", stop);
  try {
    for await (const turn of comparison.run(stopper.signal)) {
      turns.push(turn);
      if (!isQuiet) sayText(inWords(turn, `${turns.length}/${comparison.turns}`));
    }
    return { turns, stopped: undefined };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { turns, stopped: error };
  } finally {
    process.off("SIGINT", stop);
  }
}

function inWords({ text, calls, before, after }: ComparedTurn, place: string): string {
  return `\n${place} › ${visibleLine(text)}\n  ${VERDICTS[calls]}\n${[before, after].map(sideInWords).join("")}`;
}

function sideInWords({ model, answer, calls, usage, millis, questions, error }: ComparedSide): string {
  const figures = [
    `${usage.inputTokens} + ${usage.outputTokens} tokens`,
    costOf(usage),
    secondsOf(millis),
    counted(questions, "question"),
  ].join(", ");
  const called = calls.map(({ name, params }) => `    called ${name} ${visibleLine(params)}\n`).join("");
  const failed = error === undefined ? "" : `    ${error.code}: ${visibleLine(error.message)}\n`;
  const said = answer === "" ? "" : `    ${answer.trim().replaceAll("\n", "\n    ")}\n`;
  return `  ${model.name} (${figures})\n${called}${failed}${said}`;
}

function toJson({ model, turns: all, missing, estimate }: Comparison, turns: readonly ComparedTurn[]) {
  const side = ({ usage, ...rest }: ComparedSide) => ({ ...rest, usage: toWire(Usage, usage) });
  return {
    model,
    ...{ found: all, replayed_before: all - missing, estimated_usage: toWire(Usage, estimate) },
    summary: Object.fromEntries(
      Map.groupBy(turns, ({ calls }) => calls)
        .entries()
        .map(([verdict, { length }]) => [verdict, length]),
    ),
    turns: turns.map(({ turn, thread, createdAt, before, after, ...rest }) => ({
      ...{ turn_id: turn, thread_id: thread, created_at: createdAt, ...rest },
      ...{ before: side(before), after: side(after) },
    })),
  };
}
