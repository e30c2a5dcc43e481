/** `postern usage`: what was asked and what it cost, also while the service runs. */
import { type Command, InvalidArgumentError } from "commander";
import { say, sayJson } from "../../../kernel/cli/output.ts";
import { table } from "../../../kernel/cli/table.ts";
import type { CommandContext, Figure, Figures } from "../../../kernel/plugin.ts";
import { Figures as FiguresShape, UsageBy } from "../../../kernel/vocabulary/models/usage.ts";
import { toWire } from "../../../kernel/vocabulary/wire/convert.ts";

const DAY_MILLIS = 86_400_000;
const MOST_DAYS = 400;
/** Calls of tools are counted by the tool host. */
const KINDS = UsageBy.enum.filter((by) => by !== "tool");
type Kind = (typeof KINDS)[number];

interface Options {
  readonly days: number;
  readonly by: Kind;
  readonly user?: string;
  readonly json?: boolean;
}

export function register(command: Command, context: CommandContext): void {
  command
    .option("--days <count>", "of the last so many days", parseDays, 30)
    .option("--by <what>", KINDS.join(", "), parseBy, "model")
    .option("--user <user_id>", "only this user's")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern usage\n  $ postern usage --days 7 --by user\n  $ postern usage --json --days 90",
    )
    .action(({ days, by, user, json = false }: Options) =>
      context.with(["usage"], async ({ usage }) => {
        const figures = await usage.turns({ spans: daysBefore(Date.now(), days), by, ...(user && { user }) });
        if (json) sayJson({ days, by, turns: toWire(FiguresShape, figures) });
        else say(inWords(figures, by, days));
      }),
    );
}

/** Whole days, UTC, the last of them today. */
function daysBefore(now: number, days: number) {
  const today = Math.floor(now / DAY_MILLIS) * DAY_MILLIS;
  const at = (day: number) => new Date(today + day * DAY_MILLIS).toISOString();
  return Array.from({ length: days }, (_, index) => ({
    since: at(index - days + 1),
    until: at(index - days + 2),
  }));
}

function inWords({ total, groups }: Figures, by: Kind, days: number): string {
  if (total.count === 0) return `No turns in the last ${days} days.\n`;
  const rows = groups.map((group) => row(group.name, group));
  const heads = [by, "turns", "failed", "tokens in", "tokens out", "cost", "half took", "95% took"].map(
    (head) => head.toUpperCase(),
  );
  return table(heads, [...rows, row("all", total)]);
}

function row(name: string, { count, failed, inputTokens, outputTokens, usd, p50, p95 }: Figure): string[] {
  const took = (millis: number | undefined) =>
    millis === undefined ? "" : `${(millis / 1000).toFixed(1)} s`;
  return [
    name,
    ...[count, failed, inputTokens, outputTokens].map(String),
    `$${usd.toFixed(usd === 0 || usd >= 1 ? 2 : 4)}`,
    took(p50),
    took(p95),
  ];
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > MOST_DAYS)
    throw new InvalidArgumentError(`Use a whole number from 1 to ${MOST_DAYS}.`);
  return days;
}

function parseBy(text: string): Kind {
  const by = KINDS.find((known) => known === text);
  if (by === undefined) throw new InvalidArgumentError(`Use one of ${KINDS.join(", ")}.`);
  return by;
}
