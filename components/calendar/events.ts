/** What a calendar's files hold: events with their occurrences in a span of time, and contacts. */
import ICAL from "ical.js";
import { Refusal } from "./refusal.ts";

export interface Occurrence {
  readonly title: string;
  readonly start: string;
  readonly end: string;
  readonly time_zone?: string;
  readonly location?: string;
  readonly status?: string;
  /** Names one of a series. */
  readonly occurrence?: string;
  /** In milliseconds, to sort by. */
  readonly at: number;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What following the rules of series may cost all events of a call together. */
export interface Budget {
  left: number;
}

export interface Details extends Occurrence {
  readonly description?: string;
  readonly repeats?: string;
  readonly organizer?: string;
  readonly attendees?: readonly string[];
}

const MAX_STEPS = 2500;
const DAY_MS = 86_400_000;
const MAX_OFFSET_MS = 14 * 3_600_000;
const MAX_TEXT = 500;
const MAX_ATTENDEES = 50;

let stepsLeft = 0;
const { RecurIterator } = ICAL;
const { check_contracting_rules: isDay } = RecurIterator.prototype;
// A rule that no day fits, such as a daily one on 30 February, would be followed for ever.
RecurIterator.prototype.check_contracting_rules = function (this: ICAL.RecurIterator) {
  if (stepsLeft-- <= 0) throw new TooManySteps();
  return isDay.call(this);
};

class TooManySteps extends Error {}

/** Every occurrence of the file's events in the span, at most `most`. */
export function occurrencesIn(text: string, span: Span, most: number, budget: Budget): readonly Occurrence[] {
  const { masters, exceptions } = read(text);
  const found: Occurrence[] = [];
  for (const master of masters) {
    for (const exception of exceptions)
      if (exception.uid === master.uid) master.relateException(exception.component);
    if (!master.isRecurring()) {
      const one = describe(master, master.startDate, master.endDate);
      if (overlaps(master.startDate, master.endDate, span, slackOf(master))) found.push(one);
      continue;
    }
    const rule = master.component.getFirstPropertyValue("rrule") as ICAL.Recur | null;
    if (rule !== null && /SECONDLY|MINUTELY/.test(rule.freq)) throw tooOften(master);
    const given = Math.min(MAX_STEPS, budget.left);
    stepsLeft = given;
    const iterator = master.iterator(nearTo(span.from, master, rule));
    for (let steps = 0; found.length < most; steps++) {
      budget.left--;
      const next = following(iterator, master);
      if (next === undefined) break;
      if (steps === given) throw tooOften(master);
      const { item, startDate, endDate, recurrenceId } = master.getOccurrenceDetails(next);
      // One that was moved may be anywhere, so the series ends it and not its own time.
      if (millisOf(next) >= span.to + slackOf(master)) break;
      if (overlaps(startDate, endDate, span, slackOf(item)))
        found.push({ ...describe(item, startDate, endDate), occurrence: recurrenceId.toString() });
    }
    budget.left -= given - Math.max(0, stepsLeft);
    for (const exception of exceptions) {
      const { uid, startDate, endDate, recurrenceId } = exception;
      if (uid !== master.uid || millisOf(recurrenceId) < span.to) continue;
      // It was moved into the span from a later day.
      if (overlaps(startDate, endDate, span, slackOf(exception)) && found.length < most)
        found.push({ ...describe(exception, startDate, endDate), occurrence: recurrenceId.toString() });
    }
  }
  return found;
}

function following(iterator: ICAL.RecurExpansion, master: ICAL.Event): ICAL.Time | undefined {
  try {
    return iterator.next() ?? undefined;
  } catch (error) {
    if (error instanceof TooManySteps) throw tooOften(master);
    if (error instanceof Refusal) throw error;
    throw new Refusal(`its recurrence rule cannot be read: ${reason(error)}`);
  }
}

/** Where to begin with a series that may be years old: as many whole periods later as its days stay the same. */
function nearTo(from: number, { startDate, duration }: ICAL.Event, rule: ICAL.Recur | null): ICAL.Time {
  const days = { DAILY: 1, WEEKLY: 7 }[rule?.freq ?? ""];
  if (rule === null || days === undefined || rule.count !== null) return startDate;
  const period = days * Math.max(1, rule.interval);
  const early = from - millisOf(startDate) - duration.toSeconds() * 1000 - 2 * DAY_MS;
  const periods = Math.floor(early / (period * DAY_MS));
  if (!(periods > 0)) return startDate;
  const near = startDate.clone();
  near.adjust(periods * period, 0, 0, 0);
  return near;
}

export function detailsOf(text: string): readonly Details[] {
  const { masters, exceptions } = read(text);
  return [...masters, ...exceptions].map((event) => {
    const { component, description } = event;
    const rule = component.getFirstPropertyValue("rrule");
    const organizer = component.getFirstPropertyValue("organizer");
    const attendees = component
      .getAllProperties("attendee")
      .slice(0, MAX_ATTENDEES)
      .map((one) => String(one.getFirstValue()).replace(/^mailto:/i, ""));
    return {
      ...describe(event, event.startDate, event.endDate),
      ...(event.isRecurrenceException() && { occurrence: event.recurrenceId.toString() }),
      ...(description && { description: description.slice(0, 8000) }),
      ...(rule && { repeats: String(rule) }),
      ...(organizer && { organizer: String(organizer).replace(/^mailto:/i, "") }),
      ...(attendees.length > 0 && { attendees }),
    };
  });
}

/** Returns the number of minutes from one local time to another; both are as files have them, such as 20261120T150000. */
export function minutesBetween(one: string, other: string): number {
  return (timeOf(other).toUnixTime() - timeOf(one).toUnixTime()) / 60;
}

/** The same local time later, in the same form. */
export function later(time: string, minutes: number): string {
  const moved = timeOf(time);
  moved.adjust(0, 0, minutes, 0);
  return moved.toICALString() + (time.endsWith("Z") && !moved.toICALString().endsWith("Z") ? "Z" : "");
}

const timeOf = (time: string): ICAL.Time => ICAL.Time.fromString(dashed(time), undefined);

export interface Contact {
  readonly name: string;
  readonly emails: readonly string[];
  readonly phones: readonly string[];
}

export function contactIn(text: string): Contact | undefined {
  try {
    const card = new ICAL.Component(ICAL.parse(text) as unknown[]);
    const values = (name: string) =>
      card
        .getAllProperties(name)
        .slice(0, 10)
        .map((property) => String(property.getFirstValue()).slice(0, 200));
    const [name = ""] = values("fn");
    return { name, emails: values("email"), phones: values("tel").map((tel) => tel.replace(/^tel:/i, "")) };
  } catch {
    return undefined;
  }
}

export const dashed = (time: string): string =>
  time.replace(
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d))?/,
    (_, year, month, day, hours, minutes, seconds) =>
      `${year}-${month}-${day}${hours === undefined ? "" : `T${hours}:${minutes}:${seconds}`}`,
  );

function read(text: string) {
  let calendar: ICAL.Component;
  try {
    calendar = new ICAL.Component(ICAL.parse(text) as unknown[]);
  } catch (error) {
    throw new Refusal(`its file is broken: ${reason(error)}`);
  }
  const events = calendar.getAllSubcomponents("vevent").map((component) => new ICAL.Event(component));
  for (const { component } of events)
    if (!(component.getFirstPropertyValue("dtstart") instanceof ICAL.Time))
      throw new Refusal("its file is broken: an event has no start time");
  return {
    masters: events.filter((event) => !event.isRecurrenceException()),
    exceptions: events.filter((event) => event.isRecurrenceException()),
  };
}

function describe(event: ICAL.Event, start: ICAL.Time, end: ICAL.Time): Occurrence {
  const { summary, location, component } = event;
  const status = component.getFirstPropertyValue("status");
  const zone = component.getFirstProperty("dtstart")?.getFirstParameter("tzid");
  return {
    title: clip(summary),
    start: start.toString(),
    end: end.toString(),
    ...(zone && { time_zone: zone }),
    ...(location && { location: clip(location) }),
    ...(status && status !== "CONFIRMED" && { status: String(status) }),
    at: millisOf(start),
  };
}

const clip = (text: string | null | undefined): string => (text ?? "").slice(0, MAX_TEXT);
const millisOf = (time: ICAL.Time): number => time.toUnixTime() * 1000;

function overlaps(start: ICAL.Time, end: ICAL.Time, { from, to }: Span, slack: number): boolean {
  const [begins, ends] = [millisOf(start), millisOf(end)];
  return begins < to + slack && (ends > from - slack || (begins === ends && begins >= from - slack));
}

/** A file that names a time zone and does not describe it leaves open by how much the times differ from UTC. */
function slackOf({ component, startDate }: ICAL.Event): number {
  const zone = component.getFirstProperty("dtstart")?.getFirstParameter("tzid");
  return zone && startDate.zone === ICAL.Timezone.localTimezone ? MAX_OFFSET_MS : 0;
}

function tooOften({ summary }: ICAL.Event): Refusal {
  return new Refusal(`"${clip(summary)}" repeats too often to be listed`);
}

const reason = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 200);
