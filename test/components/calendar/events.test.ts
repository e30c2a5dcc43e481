/** Events and their edits, as text: what recurs, what changes, what must stay, and files that are meant to hurt. */
import { expect, test } from "vitest";
import { moved, newEvent, without } from "../../../components/calendar/edits.ts";
import { contactIn, detailsOf, occurrencesIn } from "../../../components/calendar/events.ts";
import { find, parseXml } from "../../../components/calendar/xml.ts";
import { calendarFile, STANDUP } from "./files.ts";

const span = { from: Date.UTC(2026, 9, 20), to: Date.UTC(2026, 10, 10) };
const list = (text: string, budget = { left: 10_000 }) => occurrencesIn(text, span, 200, budget);
const starts = (text: string) =>
  list(text).map(({ start, at }) => [start, new Date(at).toISOString().slice(11, 16)]);

const WEEKS = [
  ["2026-10-22T09:00:00", "07:00"],
  ["2026-10-29T09:00:00", "08:00"],
  ["2026-11-05T09:00:00", "08:00"],
];

test("a series keeps its local time across a change of the clocks", () => {
  expect(starts(STANDUP)).toEqual(WEEKS);
  expect(list(STANDUP)[0]).toMatchObject({
    title: "Stand-up",
    end: "2026-10-22T09:30:00",
    time_zone: "Europe/Berlin",
    occurrence: "2026-10-22T09:00:00",
  });
});

test("one occurrence is moved, then cancelled, and every other line stays as it was", () => {
  const occurrence = "2026-10-29T09:00:00";
  const after = moved(STANDUP, { start: "2026-10-30T11:00", occurrence });
  expect(starts(after)).toEqual([WEEKS[0], ["2026-10-30T11:00:00", "10:00"], WEEKS[2]]);
  const lines = STANDUP.split("\r\n");
  expect(after.startsWith(lines.slice(0, -2).join("\r\n").slice(0, STANDUP.indexOf("END:VCALENDAR")))).toBe(
    true,
  );
  const copy = after.slice(STANDUP.indexOf("END:VCALENDAR"));
  expect(copy).toContain("RECURRENCE-ID;TZID=Europe/Berlin:20261029T090000\r\n");
  expect(copy).toContain("DTEND;TZID=Europe/Berlin:20261030T113000\r\n");
  expect(copy).toContain(
    'X-ODD;A="b:c;d":kept as\\, it is\r\nX-FOLDED:begins here\r\n  and goes on here\r\n',
  );
  expect(copy).not.toContain("RRULE");
  expect(starts(moved(after, { start: "2026-10-30T12:00", occurrence }))[1]).toEqual([
    "2026-10-30T12:00:00",
    "11:00",
  ]);
  const cancelled = without(after, occurrence);
  expect(starts(cancelled)).toEqual([WEEKS[0], WEEKS[2]]);
  expect(cancelled.replace("EXDATE;TZID=Europe/Berlin:20261029T090000\r\n", "")).toBe(STANDUP);
});

test("an event that is moved keeps its length, its time zone and every other byte", () => {
  const lines = (start: string, end: string, sequence: string) =>
    calendarFile(
      `DTSTART;TZID=Europe/Berlin:${start}`,
      `SEQUENCE:${sequence}`,
      "X-A: b",
      `DTEND;TZID=Europe/Berlin:${end}`,
    );
  const before = lines("20261023T090000", "20261023T104500", "3");
  expect(moved(before, { start: "2026-11-02T14:00" })).toBe(lines("20261102T140000", "20261102T154500", "4"));
  expect(moved(before, { start: "2026-11-02T14:00", end: "2026-11-02T15:00" })).toBe(
    lines("20261102T140000", "20261102T150000", "4"),
  );
});

test("a whole series keeps its days, and is left alone where single occurrences differ", () => {
  expect(starts(moved(STANDUP, { start: "2026-10-01T10:15" }))[0]).toEqual(["2026-10-22T10:15:00", "08:15"]);
  expect(() => moved(STANDUP, { start: "2026-10-02T10:15" })).toThrow(
    "The days of a series cannot be changed",
  );
  const changed = without(STANDUP, "2026-10-29T09:00:00");
  expect(() => moved(changed, { start: "2026-10-01T10:15" })).toThrow("move them one by one");
  expect(() => moved(STANDUP, { start: "2026-10-01" })).toThrow("An all-day event takes days");
  expect(() => moved(STANDUP, { start: "2026-02-30T10:00" })).toThrow("There is no day or time");
});

test("a new event says what was given, and nothing in it ends a line", () => {
  const text = newEvent(
    {
      uid: "u",
      title: "Tea, with Bo; \\ and\r\nBEGIN:VALARM",
      start: "2026-10-23T15:00",
      time_zone: "Europe/Berlin",
      description: "ä".repeat(200),
    },
    "20261001T000000Z",
  );
  for (const line of text.split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  expect(text.match(/^BEGIN:/gm)).toHaveLength(2);
  expect(detailsOf(text)[0]).toMatchObject({
    title: "Tea, with Bo; \\ and\nBEGIN:VALARM",
    start: "2026-10-23T15:00:00",
    end: "2026-10-23T16:00:00",
    description: "ä".repeat(200),
  });
  const bad = { uid: "u", title: "t", start: "2026-10-23T15:00" };
  expect(() => newEvent({ ...bad, time_zone: "a\r\nX:b" }, "")).toThrow("time_zone must be a name");
  expect(() => newEvent({ ...bad, end: "2026-10-23T14:00" }, "")).toThrow("end must not be before start");
});

test.each([
  ["FREQ=SECONDLY", "repeats too often"],
  ["FREQ=HOURLY", "repeats too often"],
  ["FREQ=DAILY;COUNT=1000000000", "repeats too often"],
  ["FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "repeats too often"],
  ["FREQ=NONSENSE", "its file is broken"],
])("the endless or broken rule %s gets one line", (rule, message) => {
  const text = calendarFile("DTSTART:19700101T000000Z", `RRULE:${rule}`, "SUMMARY:Bad");
  expect(() => list(text)).toThrow(message);
});

test("a daily series of many years is not followed from its beginning", () => {
  const text = calendarFile("DTSTART:19700101T080000Z", "RRULE:FREQ=DAILY;INTERVAL=2", "SUMMARY:Old");
  const budget = { left: 100 };
  expect(list(text, budget)).toHaveLength(11);
  expect(budget.left).toBeGreaterThan(0);
});

test.each([
  ["no calendar", "its file is broken"],
  [calendarFile("SUMMARY:No time"), "no start time"],
  [calendarFile("DTSTART:20261020T000000Z", "BROKEN LINE"), "its file is broken"],
])("the broken file %# gets one line", (text, message) => {
  expect(() => list(text)).toThrow(message);
});

test("XML with entities, without an end or too deep is refused", () => {
  const laughs = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><a>&c;</a>';
  expect(() => parseXml(laughs)).toThrow("declares XML entities");
  expect(() => parseXml("<a><b></a>")).toThrow("not valid CalDAV XML");
  expect(() => parseXml("<a")).toThrow("not valid CalDAV XML");
  expect(() => parseXml("<a>".repeat(1000))).toThrow("too many elements");
  const read = parseXml(
    '<?xml version="1.0"?><d:a xmlns:d="x"><B>1 &lt; 2 &#x41;<![CDATA[<]]></B><!-- <c> --></d:a>',
  );
  expect(find(read, "a", "b")?.text).toBe("1 < 2 A<");
});

test("a card becomes a contact, and what is no card is left out", () => {
  const card =
    "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Bo Berg\r\nEMAIL;TYPE=home:bo@a.test\r\nTEL:+49 1\r\nEND:VCARD\r\n";
  expect(contactIn(card)).toEqual({ name: "Bo Berg", emails: ["bo@a.test"], phones: ["+49 1"] });
  expect(contactIn("nonsense")).toBeUndefined();
});
