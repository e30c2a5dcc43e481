/** Turns and tool calls over time, with their cost and duration, and what is kept. Users see their own, an operator all of them. */

import { invalidFault, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import { type Figures, UsageBy } from "../../../kernel/kit/turns.ts";
import type { Fault, Services } from "../../../kernel/plugin.ts";
import type { FiguresSpan } from "../../store/services.ts";
import { ownAnswers } from "../threads/answered-questions.ts";
import { UsageAnswer } from "./wire.ts";

const route = routesOf("status");

const DAY_MS = 86_400_000;
const USUAL_DAYS = 7;
const MAX_DAYS = 400;
/** Up to this many days, figures are by the hour. */
const DAYS_BY_HOUR = 3;
const MAX_ZONE_LENGTH = 64;

const moment = (otherwise: string) =>
  Type.String({ maxLength: 40, description: `A time such as 2026-11-16T08:00:00Z. ${otherwise}` });

const NO_CALLS: Figures = {
  total: { count: 0, failed: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
  points: [],
  groups: [],
};

export interface UsageParts extends Pick<Services, "threads" | "storage"> {
  readonly toolAdmin?: Services["toolAdmin"] | undefined;
}

export function usageRoutes({ threads, storage, toolAdmin }: UsageParts): readonly Route[] {
  return [
    route("GET /api/usage", {
      summary:
        "Count turns and tool calls over time, yours, or everybody's if you are an operator; `storage` is yours, or that of `user`",
      query: Type.Object({
        from: Type.Optional(moment("A week before `to` if absent")),
        to: Type.Optional(moment("Now if absent")),
        zone: Type.Optional(
          Type.String({
            maxLength: MAX_ZONE_LENGTH,
            description: "Whose hours and days, such as Europe/Berlin; UTC if absent",
          }),
        ),
        step: Type.Optional(
          Type.Literal("day", {
            description: `By the hour for up to ${DAYS_BY_HOUR} days if absent`,
          }),
        ),
        by: Type.Optional(UsageBy),
        user: Type.Optional(
          Type.String({ minLength: 1, maxLength: 500, description: "Operators: only this user's" }),
        ),
      }),
      answer: UsageAnswer,
      scoped: true,
      async handle({ user, query }) {
        const { spans, step } = spansOf(query);
        const asked = { spans, by: query.by, user: user.role === "operator" ? query.user : user.id };
        const turns = await threads.usage(asked);
        const calls = (await toolAdmin?.usage(asked)) ?? NO_CALLS;
        const [first, last] = [spans[0] as FiguresSpan, spans.at(-1) as FiguresSpan];
        return {
          ...{ from: first.since, to: last.until, step, at: spans.map(({ since }) => since), turns, calls },
          storage: await storage.used(asked.user ?? user.id),
          ...(user.scope === undefined && {
            answered: await ownAnswers(threads, user.id, { ...query, spans }),
          }),
        };
      },
    }),
  ];
}

interface Range {
  readonly from?: string;
  readonly to?: string;
  readonly zone?: string;
  readonly step?: "day";
}

/** Splits the range into whole hours or days of the reader's time zone. */
export function spansOf({ from, to, zone = "UTC", step: wanted }: Range): {
  readonly spans: readonly FiguresSpan[];
  readonly step: "hour" | "day";
} {
  const end = to === undefined ? Date.now() : timeOf(to, "to");
  const begin = from === undefined ? end - USUAL_DAYS * DAY_MS : timeOf(from, "from");
  if (begin >= end) throw wrong("from", "`from` must be before `to`.");
  if (end - begin > MAX_DAYS * DAY_MS) throw wrong("from", `The range may be up to ${MAX_DAYS} days.`);
  const step = wanted ?? (end - begin <= DAYS_BY_HOUR * DAY_MS ? "hour" : "day");
  let at = startOf(begin, zone, step);
  const spans: FiguresSpan[] = [];
  while (at.epochMilliseconds < end) {
    const next = step === "hour" ? at.add({ hours: 1 }) : at.add({ days: 1 }).startOfDay();
    spans.push({ since: isoOf(at), until: isoOf(next) });
    at = next;
  }
  return { spans, step };
}

function startOf(millis: number, zone: string, step: "hour" | "day"): Temporal.ZonedDateTime {
  try {
    const at = Temporal.Instant.fromEpochMilliseconds(millis).toZonedDateTimeISO(zone);
    return step === "day" ? at.startOfDay() : at.round({ smallestUnit: "hour", roundingMode: "floor" });
  } catch {
    throw wrong("zone", `"${zone}" is not a time zone. Use a name such as Europe/Berlin or UTC.`);
  }
}

/** Writes a time as the store does, so that comparing texts compares times. */
function isoOf(at: Temporal.ZonedDateTime): string {
  return new Date(at.epochMilliseconds).toISOString();
}

function timeOf(text: string, param: string): number {
  const millis = Date.parse(text);
  // The store's times have four digits for the year.
  if (Number.isNaN(millis) || millis < 0 || millis > Date.parse("9999-01-01T00:00:00Z"))
    throw wrong(
      param,
      `"${text.slice(0, MAX_ZONE_LENGTH)}" is not a time. Use one such as 2026-11-16T08:00:00Z.`,
    );
  return millis;
}

function wrong(param: string, message: string): Fault {
  return invalidFault("invalid_request", message, param);
}
