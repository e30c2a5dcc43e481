import { describe, expect, test } from "vitest";
import { assertSensible, nextFew } from "../../../../plugins/jobs/routines/schedule/plan.ts";
import { MAX_SCHEDULE_LENGTH, readSchedule } from "../../../../plugins/jobs/routines/schedule/words.ts";
import { assertZone } from "../../../../plugins/jobs/routines/schedule/zone.ts";

const BERLIN = "Europe/Berlin";
/** A Monday, half past nine in Berlin. */
const NOW = Date.parse("2026-11-16T08:30:00Z");

/** What it is in words, and its next firings in UTC. */
function read(text: string, { now = NOW, zone = BERLIN, count = 2 } = {}): readonly string[] {
  const { plan, words } = readSchedule(text, { now, zone });
  return [words, ...nextFew(plan, zone, now, count).map((at) => new Date(at).toISOString().slice(0, 16))];
}

test.each([
  ["weekdays at 8:00", "every weekday at 8:00", "2026-11-17T07:00", "2026-11-18T07:00"],
  ["every weekday at 8am", "every weekday at 8:00", "2026-11-17T07:00", "2026-11-18T07:00"],
  ["Every 2 hours", "every 2 hours", "2026-11-16T10:30", "2026-11-16T12:30"],
  ["every 90 minutes", "every 90 minutes", "2026-11-16T10:00", "2026-11-16T11:30"],
  ["hourly", "every hour", "2026-11-16T09:30", "2026-11-16T10:30"],
  ["daily at noon", "every day at 12:00", "2026-11-16T11:00", "2026-11-17T11:00"],
  ["mondays at 8", "every Monday at 8:00", "2026-11-23T07:00", "2026-11-30T07:00"],
  [
    "mon, wed and fri at 8 and 5:30 pm",
    "every Monday, Wednesday and Friday at 8:00 and 17:30",
    "2026-11-16T16:30",
    "2026-11-18T07:00",
  ],
  ["weekends at 10", "every Saturday and Sunday at 10:00", "2026-11-21T09:00", "2026-11-22T09:00"],
  ["every 3 days at 8", "every 3 days at 8:00", "2026-11-17T07:00", "2026-11-20T07:00"],
  ["every other monday at 9", "every 2 weeks on Monday at 9:00", "2026-11-23T08:00", "2026-12-07T08:00"],
  [
    "first monday of the month at 9",
    "on the first Monday of the month at 9:00",
    "2026-12-07T08:00",
    "2027-01-04T08:00",
  ],
  [
    "monthly on the last friday at 9",
    "on the last Friday of the month at 9:00",
    "2026-11-27T08:00",
    "2026-12-25T08:00",
  ],
  [
    "the 31st of every month at 9",
    "on the 31st of the month at 9:00",
    "2026-12-31T08:00",
    "2027-01-31T08:00",
  ],
  [
    "last day of the month at 9",
    "on the last day of the month at 9:00",
    "2026-11-30T08:00",
    "2026-12-31T08:00",
  ],
  ["0 8 * * 1-5", "cron 0 8 * * 1-5", "2026-11-17T07:00", "2026-11-18T07:00"],
  ["@daily", "cron 0 0 * * *", "2026-11-16T23:00", "2026-11-17T23:00"],
  ["tomorrow at 15:00", "once, on 2026-11-17 at 15:00", "2026-11-17T14:00"],
  ["in 20 minutes", "once, on 2026-11-16 at 9:50", "2026-11-16T08:50"],
  ["next friday at 9", "once, on 2026-11-20 at 9:00", "2026-11-20T08:00"],
  ["2026-12-24 at 9:00", "once, on 2026-12-24 at 9:00", "2026-12-24T08:00"],
  ["2026-12-24T09:00", "once, on 2026-12-24 at 9:00", "2026-12-24T08:00"],
])("%s is read as it is said", (text, ...expected) => {
  expect(read(text)).toEqual(expected);
});

describe("summer time", () => {
  test("an hour that does not exist: the routine fires at the first moment after it, on the same day", () => {
    const now = Date.parse("2026-03-28T12:00:00Z");
    expect(read("daily at 2:30", { now, count: 3 }).slice(1)).toEqual([
      "2026-03-29T01:00",
      "2026-03-30T00:30",
      "2026-03-31T00:30",
    ]);
    expect(read("2026-03-29 at 2:30", { now }).slice(1)).toEqual(["2026-03-29T01:00"]);
    expect(read("daily at 2:30 and 14:30", { now }).slice(1)).toEqual([
      "2026-03-28T13:30",
      "2026-03-29T01:00",
    ]);
  });

  test("an hour that comes twice: a fixed time fires once, at the first", () => {
    const now = Date.parse("2026-10-24T12:00:00Z");
    expect(read("daily at 2:30", { now, count: 3 }).slice(1)).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
      "2026-10-27T01:30",
    ]);
    expect(read("daily at 2:30 and 14:30", { now, count: 3 }).slice(1)).toEqual([
      "2026-10-24T12:30",
      "2026-10-25T00:30",
      "2026-10-25T13:30",
    ]);
    expect(read("2026-10-25 at 2:30", { now }).slice(1)).toEqual(["2026-10-25T00:30"]);
  });

  test("an interval goes by real time, and passes both hours", () => {
    expect(read("every hour", { now: Date.parse("2026-10-24T23:00:00Z"), count: 4 }).slice(1)).toEqual([
      "2026-10-25T00:00",
      "2026-10-25T01:00",
      "2026-10-25T02:00",
      "2026-10-25T03:00",
    ]);
  });

  test("eight o'clock stays eight o'clock where people live", () => {
    const now = Date.parse("2026-03-27T12:00:00Z");
    expect(read("daily at 8:00", { now, count: 3 }).slice(1)).toEqual([
      "2026-03-28T07:00",
      "2026-03-29T06:00",
      "2026-03-30T06:00",
    ]);
    expect(read("in 2 days", { now }).slice(1)).toEqual(["2026-03-29T11:00"]);
  });

  test("half an hour of summer time, and a change at midnight", () => {
    const lordHowe = { zone: "Australia/Lord_Howe", now: Date.parse("2026-10-03T12:00:00Z") };
    expect(read("daily at 2:15", lordHowe).slice(1)).toEqual(["2026-10-03T15:30", "2026-10-04T15:15"]);
    const havana = { zone: "America/Havana", now: Date.parse("2026-03-07T12:00:00Z") };
    expect(read("daily at 0:30", havana).slice(1)).toEqual(["2026-03-08T05:00", "2026-03-09T04:30"]);
  });
});

test.each([
  ["", "The schedule is empty. Try "],
  ["whenever you like", '"whenever you like" is not a schedule. Try "weekdays at 8:00"'],
  ["monday at 8", 'Say "every monday", or "next monday" for once.'],
  ["every day", 'Say at what time, such as "at 8:00".'],
  ["daily at 25:00", "25:00 is not a time of the day."],
  ["daily at 13pm", "13pm is not a time of the day."],
  ["2026-02-30 at 9:00", "is not a schedule."],
  ["every 0 minutes", "is not a schedule."],
  ["every 20 months at 8", "is not a schedule."],
  ["in 9999 days", "That is more than a year away: give the date."],
  ["61 * * * *", '"61 * * * *" is not a cron schedule: Invalid value for minute: 61.'],
  ["*/5 * * * * *", "Cron has five fields here (minute hour day month weekday), not 6."],
  ["@reboot", '"@reboot" is not known: there are @hourly,'],
  ["fifth element", "is not a schedule."],
  ["every constructor", "is not a schedule."],
  ["weekdays at 8:00 or so", "is not a schedule."],
  ["x".repeat(MAX_SCHEDULE_LENGTH + 1), "A schedule has at most 200 characters."],
])('"%s" is refused with what to do', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test("a schedule that never fires, has passed, or fires too often is refused", () => {
  const check = (text: string, least = 1) =>
    assertSensible(readSchedule(text, { now: NOW, zone: BERLIN }).plan, BERLIN, NOW, least);
  expect(() => check("0 0 30 2 *")).toThrow("This schedule never fires.");
  expect(() => check("today at 8:00")).toThrow("That time has passed.");
  expect(() => check("* * * * *", 5)).toThrow("more often than every 5 minutes");
  expect(() => check("0,3 8 * * *", 5)).toThrow("more often than every 5 minutes");
  expect(() => check("every 5 minutes", 5)).not.toThrow();
});

test("a time zone is a name that there is", () => {
  for (const zone of ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
    expect(() => assertZone(zone)).not.toThrow();
  for (const zone of ["", "Berlin", "+02:00", "Europe/Nowhere", "x".repeat(10_000)])
    expect(() => assertZone(zone)).toThrow("is not a time zone");
});

test("a schedule with as many times as there may be, far apart, is computed at once", () => {
  const times = Array.from({ length: 24 }, (_, hour) => `${hour}:00`).join(" ");
  const { plan } = readSchedule(`every 365 days at ${times}`, { now: NOW, zone: BERLIN });
  assertSensible(plan, BERLIN, NOW, 1);
  const firings = nextFew(plan, BERLIN, NOW, 30).map((at) => new Date(at).toISOString().slice(0, 13));
  // What is left of today, and then the whole of the day a year later.
  expect([firings[0], firings[13], firings[14], firings[29]]).toEqual([
    "2026-11-16T09",
    "2026-11-16T22",
    "2027-11-15T23",
    "2027-11-16T14",
  ]);
});
