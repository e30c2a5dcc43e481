/** `postern usage`: what was asked and what it cost, through the running service where there is one. */
import { type Command, InvalidArgumentError } from "commander";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import { say, sayJson, table } from "../../../kernel/kit/terminal.ts";
import {
  AnsweredQuestions,
  type Figure,
  type Figures,
  Figures as FiguresShape,
  UsageBy,
  UsedStorage as UsedShape,
  type UsedStorage,
} from "../../../kernel/kit/turns.ts";
import type { CommandContext } from "../../../kernel/plugin.ts";

const DAY_MS = 86_400_000;
const MAX_DAYS = 400;
interface Options {
  readonly days: number;
  readonly by: UsageBy;
  readonly user?: string;
  readonly json?: boolean;
}

export function register(command: Command, context: CommandContext): void {
  command
    .option("--days <count>", "of the last so many days", parseDays, 30)
    .option("--by <what>", UsageBy.enum.join(", "), parseBy, "model")
    .option("--user <user_id>", "only this user's")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern usage\n  $ postern usage --days 7 --by user\n  $ postern usage --by tool\n  $ postern usage --json --days 90",
    )
    .action(async ({ days, by, user, json = false }: Options) => {
      const asked = { spans: daysBefore(Date.now(), days), by, ...(user && { user }) };
      const what = by === "tool" ? "calls" : "turns";
      await context.with(["conversations"], async ({ conversations }) => {
        const { figures, storage, answered } = await conversations.usage(asked);
        if (json)
          sayJson({
            ...{ days, by, [what]: toWire(FiguresShape, figures) },
            storage: { user: user ?? OPERATOR, ...toWire(UsedShape, storage) },
            ...(answered && { answered: toWire(AnsweredQuestions, answered) }),
          });
        else
          say(
            `${inWords(figures, what, { by, days })}\n${storedInWords(user, storage)}\n${answeredInWords(answered)}`,
          );
      });
    });
}

function storedInWords(user: string | undefined, { bytes, maxBytes, kinds }: UsedStorage): string {
  const inMb = (count: number) =>
    `${(count / 1_000_000).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;
  const parts = Object.entries(kinds)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${kind} ${inMb(count)}`);
  const what = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  const who = user === undefined ? "You keep" : `${user} keeps`;
  return `${who} ${inMb(bytes)} of ${inMb(maxBytes)} (USER_STORAGE_MB)${what}.`;
}

function answeredInWords(answered: AnsweredQuestions | undefined): string {
  if (!answered?.count) return "";
  const { count, yes, p50, isHasty } = answered;
  const line = `You answered ${count} ${count === 1 ? "question" : "questions"}, ${share(yes, count)} of them with yes, half within ${took(p50)}.`;
  return `${line}${isHasty ? `\n${HASTY}` : ""}\n`;
}

const HASTY =
  "That is quick. Take a moment to look where something goes and what it says: only you can tell whether it is right.";

/** Whole days, UTC, the last of them today. */
function daysBefore(now: number, days: number) {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const at = (day: number) => new Date(today + day * DAY_MS).toISOString();
  return Array.from({ length: days }, (_, index) => ({
    since: at(index - days + 1),
    until: at(index - days + 2),
  }));
}

function inWords(
  { total, groups }: Figures,
  what: "turns" | "calls",
  { by, days }: Pick<Options, "by" | "days">,
): string {
  if (total.count === 0) return `No ${what} in the last ${days} days.\n`;
  // A tool has no tokens.
  const columns = COLUMNS.filter(({ isSpent = false }) => what === "turns" || !isSpent);
  const row = (name: string, figure: Figure) => [name, ...columns.map(({ show }) => show(figure))];
  const heads = [by, what, ...columns.slice(1).map(({ head }) => head)].map((head) => head.toUpperCase());
  return table(heads, [...groups.map((group) => row(group.name, group)), row("all", total)]);
}

interface Column {
  readonly head: string;
  readonly isSpent?: boolean;
  show(figure: Figure): string;
}

const COLUMNS: readonly Column[] = [
  { head: "count", show: ({ count }) => String(count) },
  { head: "failed", show: ({ failed }) => String(failed) },
  { head: "tokens in", isSpent: true, show: ({ inputTokens }) => String(inputTokens) },
  { head: "tokens out", isSpent: true, show: ({ outputTokens }) => String(outputTokens) },
  {
    head: "cost",
    isSpent: true,
    show: ({ usd, estimatedUsd }) =>
      estimatedUsd === undefined
        ? dollars(usd)
        : `${dollars(usd)} (${dollars(estimatedUsd)} estimated for the cap)`,
  },
  {
    head: "cached",
    isSpent: true,
    show: ({ inputTokens, cachedTokens = 0 }) => share(cachedTokens, inputTokens),
  },
  { head: "saved", isSpent: true, show: ({ savedUsd = 0 }) => dollars(savedUsd) },
  { head: "half took", show: ({ p50 }) => took(p50) },
  { head: "95% took", show: ({ p95 }) => took(p95) },
];

const dollars = (usd: number): string =>
  usd < 0 ? `-${dollars(-usd)}` : `$${usd.toFixed(usd === 0 || usd >= 1 ? 2 : 4)}`;
const share = (part: number, all: number) => `${all === 0 ? 0 : Math.round((part / all) * 100)}%`;
const took = (millis: number | undefined) => (millis === undefined ? "" : `${(millis / 1000).toFixed(1)} s`);

function parseDays(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_DAYS}.`);
  return days;
}

function parseBy(text: string): UsageBy {
  const by = UsageBy.enum.find((known) => known === text);
  if (by === undefined) throw new InvalidArgumentError(`Use one of ${UsageBy.enum.join(", ")}.`);
  return by;
}
