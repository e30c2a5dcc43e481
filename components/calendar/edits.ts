/** Changes of an event's file: only the lines that say when it is are written anew. */
import { dashed, later, minutesBetween } from "./events.ts";
import {
  type Block,
  blocksOf,
  escapeText,
  type Line,
  makeLine,
  propertiesOf,
  readLines,
  textOf,
} from "./lines.ts";
import { Refusal } from "./refusal.ts";

export interface NewEvent {
  readonly uid: string;
  readonly title: string;
  readonly start: string;
  readonly end?: string | undefined;
  readonly time_zone?: string | undefined;
  readonly location?: string | undefined;
  readonly description?: string | undefined;
}

/** `now`: such as 20261120T150000Z. */
export function newEvent(event: NewEvent, now: string): string {
  const { uid, title, start, end, time_zone: zone, location, description } = event;
  const at = toValue(start);
  const isDay = !at.includes("T");
  const until = end === undefined ? later(at, isDay ? 24 * 60 : 60) : toValue(end);
  if (until.includes("T") === isDay) throw new Refusal("start and end must both be days, or both be times.");
  if (minutesBetween(at, until) < 0) throw new Refusal("end must not be before start.");
  if (zone !== undefined && !/^[A-Za-z0-9+_-]+(\/[A-Za-z0-9+_-]+)*$/.test(zone))
    throw new Refusal("time_zone must be a name such as Europe/Berlin.");
  const isUtc = zone === undefined || zone === "UTC" || at.endsWith("Z");
  const params = isDay ? ";VALUE=DATE" : isUtc ? "" : `;TZID=${zone}`;
  const written = (value: string) => (isDay || !isUtc || value.endsWith("Z") ? value : `${value}Z`);
  const lines = [
    makeLine("BEGIN", "", "VCALENDAR"),
    makeLine("VERSION", "", "2.0"),
    makeLine("PRODID", "", "-//Postern//calendar//EN"),
    makeLine("BEGIN", "", "VEVENT"),
    makeLine("UID", "", uid),
    makeLine("DTSTAMP", "", now),
    makeLine("DTSTART", params, written(at)),
    makeLine("DTEND", params, written(until)),
    makeLine("SUMMARY", "", escapeText(title)),
    ...(location === undefined ? [] : [makeLine("LOCATION", "", escapeText(location))]),
    ...(description === undefined ? [] : [makeLine("DESCRIPTION", "", escapeText(description))]),
    makeLine("END", "", "VEVENT"),
    makeLine("END", "", "VCALENDAR"),
  ];
  return textOf(lines);
}

export interface Move {
  readonly start: string;
  readonly end?: string | undefined;
  readonly occurrence?: string | undefined;
}

export function moved(text: string, { start, end, occurrence }: Move): string {
  const lines = [...readLines(text)];
  const { master, exceptionOf, isSeries, hasExceptions } = eventsIn(lines);
  if (occurrence === undefined && isSeries && hasExceptions)
    throw new Refusal("Some occurrences of this series were changed or cancelled: move them one by one.");
  if (occurrence === undefined) {
    const before = readValue(lines, master, "DTSTART");
    if (isSeries && before.slice(0, 8) !== toValue(start).slice(0, 8))
      throw new Refusal(
        `The days of a series cannot be changed: give a start on ${dashed(before.slice(0, 8))} to change its time, or give an occurrence.`,
      );
    return textOf(retimed(lines, master, start, end));
  }
  const id = toValue(occurrence);
  const exception = exceptionOf(id);
  if (exception !== undefined) return textOf(retimed(lines, exception, start, end));
  if (!isSeries) throw new Refusal("This event does not repeat: leave occurrence out.");
  // A copy of the event for this one day; the event itself stays as it is.
  const begins = single(lines, master, "DTSTART");
  const dropped = ["RRULE", "RDATE", "EXDATE", "EXRULE"].flatMap((name) => propertiesOf(lines, master, name));
  const copy = lines.slice(master.begin, master.end).filter((_, at) => !dropped.includes(master.begin + at));
  const block = { begin: 0, end: copy.length };
  const shift = minutesBetween(begins.value, id);
  if (!Number.isFinite(shift)) throw new Refusal(`There is no occurrence ${occurrence}.`);
  for (const name of ["DTSTART", "DTEND"])
    for (const at of propertiesOf(copy, block, name)) {
      const line = copy[at];
      if (line) copy[at] = makeLine(name, line.params, later(line.value, shift));
    }
  copy.splice(1, 0, makeLine("RECURRENCE-ID", begins.params, id));
  const changed = retimed(copy, { begin: 0, end: copy.length }, start, end);
  return textOf([...lines.slice(0, master.end), ...changed, ...lines.slice(master.end)]);
}

/** The file without one occurrence of its series. */
export function without(text: string, occurrence: string): string {
  const lines = [...readLines(text)];
  const { master, exceptionOf, isSeries } = eventsIn(lines);
  if (!isSeries) throw new Refusal("This event does not repeat: leave occurrence out to cancel it.");
  const id = toValue(occurrence);
  const { params } = single(lines, master, "DTSTART");
  const exception = exceptionOf(id);
  const cancelled = makeLine("EXDATE", params, id);
  const [at = master.begin] = propertiesOf(lines, master, "RRULE");
  const kept = lines.map((line, index) =>
    exception && index >= exception.begin && index < exception.end ? "" : line.raw,
  );
  kept[at] += cancelled.raw;
  return kept.join("");
}

function eventsIn(lines: readonly Line[]) {
  const events = blocksOf(lines, "VEVENT");
  const isException = (block: Block) => propertiesOf(lines, block, "RECURRENCE-ID").length > 0;
  const masters = events.filter((block) => !isException(block));
  const [master] = masters;
  if (master === undefined || masters.length > 1)
    throw new Refusal("This file does not contain exactly one event, so it was not changed.");
  const has = (name: string) => propertiesOf(lines, master, name).length > 0;
  return {
    master,
    isSeries: has("RRULE") || has("RDATE"),
    hasExceptions: events.length > 1 || has("EXDATE") || has("RDATE"),
    exceptionOf: (id: string) =>
      events.find((block) => isException(block) && readValue(lines, block, "RECURRENCE-ID") === id),
  };
}

function retimed(
  lines: readonly Line[],
  block: Block,
  start: string,
  end: string | undefined,
): readonly Line[] {
  const result = [...lines];
  const before = single(lines, block, "DTSTART");
  const isUtc = before.value.endsWith("Z");
  const asBefore = (given: string) => {
    const value = toValue(given);
    if (value.includes("T") !== before.value.includes("T"))
      throw new Refusal("An all-day event takes days as start and end, any other event takes times.");
    if (value.endsWith("Z") && !isUtc)
      throw new Refusal("Give start and end in the event's own time zone, without Z.");
    return isUtc && !value.endsWith("Z") ? `${value}Z` : value;
  };
  const begins = asBefore(start);
  const [at = 0] = propertiesOf(lines, block, "DTSTART");
  result[at] = makeLine("DTSTART", before.params, begins);
  const [ending] = propertiesOf(lines, block, "DTEND");
  const [lasting] = propertiesOf(lines, block, "DURATION");
  const last = ending === undefined ? undefined : lines[ending];
  if (ending !== undefined && last !== undefined) {
    const until = end === undefined ? later(last.value, minutesBetween(before.value, begins)) : asBefore(end);
    if (minutesBetween(begins, until) < 0) throw new Refusal("end must not be before start.");
    result[ending] = makeLine("DTEND", last.params, until);
  } else if (end !== undefined) {
    const line = makeLine("DTEND", before.params, asBefore(end));
    if (lasting === undefined) result[at] = { ...line, raw: (result[at]?.raw ?? "") + line.raw };
    else result[lasting] = line;
  }
  const [counted] = propertiesOf(lines, block, "SEQUENCE");
  if (counted !== undefined)
    result[counted] = makeLine("SEQUENCE", "", String((Number(lines[counted]?.value) || 0) + 1));
  return result;
}

function single(lines: readonly Line[], block: Block, name: string): Line {
  const [at] = propertiesOf(lines, block, name);
  const line = at === undefined ? undefined : lines[at];
  if (line === undefined) throw new Refusal(`The event's file is broken: it has no ${name}.`);
  return line;
}

const readValue = (lines: readonly Line[], block: Block, name: string): string =>
  single(lines, block, name).value.trim();

/** `2026-11-20T15:00` as files have it: `20261120T150000`. */
export function toValue(time: string): string {
  const [, year, month, day, hours, minutes, seconds = "00", zone = ""] =
    /^(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d)(?::?(\d\d))?(Z)?)?$/.exec(time) ?? [];
  if (year === undefined) throw new Refusal(`"${time}" is not a day or a time such as 2026-11-20T15:00.`);
  const date = `${year}${month}${day}`;
  const moment = new Date(`${year}-${month}-${day}T${hours ?? "00"}:${minutes ?? "00"}:${seconds}Z`);
  if (Number.isNaN(moment.getTime()) || moment.getUTCDate() !== Number(day))
    throw new Refusal(`There is no day or time ${time}.`);
  return hours === undefined ? date : `${date}T${hours}${minutes}${seconds}${zone}`;
}
