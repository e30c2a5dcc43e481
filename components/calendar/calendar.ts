/** What each action does. */
import type { Collection, Dav } from "./dav.ts";
import { moved, newEvent, toValue, without } from "./edits.ts";
import { contactIn, detailsOf, type Occurrence, occurrencesIn } from "./events.ts";
import type { Params } from "./params.ts";
import { Refusal } from "./refusal.ts";

const MAX_EVENTS = 200;
const MAX_SKIPPED = 10;
const MAX_CONTACTS = 20;
const MAX_DAYS = 366;
const MAX_STEPS = 10_000;
const DAY_MS = 86_400_000;

/** `unique`: an id that nothing has yet. */
export function perform(params: Params, dav: Dav, now: Date, unique: string): unknown {
  switch (params.action) {
    case "list":
      return list(params, dav);
    case "read": {
      const { version, text } = dav.read(needed(params, "id"));
      return { version, events: detailsOf(text).map(withoutMoment) };
    }
    case "add": {
      const collection = pick(dav.calendars(), params.calendar);
      const { end, time_zone, location, description } = params;
      const event = {
        title: needed(params, "title"),
        start: needed(params, "start"),
        end,
        time_zone,
        location,
        description,
      };
      const id = dav.idIn(collection, `${unique}.ics`);
      const version = dav.write(id, newEvent({ uid: unique, ...event }, stamp(now)), undefined);
      return { added: id, calendar: collection.name, ...(version !== "" && { version }) };
    }
    case "move": {
      const { id, version, text } = current(params, dav);
      const { end, occurrence } = params;
      const after = dav.write(id, moved(text, { start: needed(params, "start"), end, occurrence }), version);
      return { moved: id, ...(after !== "" && { version: after }) };
    }
    case "cancel": {
      const { id, version, text } = current(params, dav);
      if (params.occurrence === undefined) dav.remove(id, version);
      else dav.write(id, without(text, params.occurrence), version);
      return { cancelled: id, ...(params.occurrence !== undefined && { occurrence: params.occurrence }) };
    }
    case "contacts": {
      const query = needed(params, "query");
      const cards = dav.addressBooks().flatMap((book) => dav.contacts(book, query, MAX_CONTACTS));
      const contacts = cards.slice(0, MAX_CONTACTS).flatMap(({ text }) => contactIn(text) ?? []);
      return { contacts, ...(cards.length > MAX_CONTACTS && { more: cards.length - MAX_CONTACTS }) };
    }
  }
}

function list(params: Params, dav: Dav): unknown {
  const span = { from: momentOf(needed(params, "from")), to: momentOf(needed(params, "to")) };
  if (span.to <= span.from) throw new Refusal("to must be after from.");
  if (span.to - span.from > MAX_DAYS * DAY_MS)
    throw new Refusal(`Ask for at most ${MAX_DAYS} days at a time.`);
  const calendars = dav.calendars();
  const asked = params.calendar === undefined ? calendars : [pick(calendars, params.calendar)];
  const events: (Occurrence & {
    readonly id: string;
    readonly version: string;
    readonly calendar: string;
  })[] = [];
  const skipped: string[] = [];
  const budget = { left: MAX_STEPS };
  for (const calendar of asked) {
    const found = dav.events(calendar, stamp(new Date(span.from)), stamp(new Date(span.to)));
    for (const { id, version, text } of found) {
      try {
        for (const one of occurrencesIn(text, span, MAX_EVENTS + 1, budget))
          events.push({ ...one, id, version, calendar: calendar.name });
      } catch (error) {
        // One broken event hides no other.
        skipped.push(`${id.slice(0, 200)}: ${messageOf(error)}`);
      }
    }
  }
  events.sort((one, other) => one.at - other.at);
  return {
    calendars: calendars.map(({ name }) => name),
    events: events.slice(0, MAX_EVENTS).map(withoutMoment),
    ...(events.length > MAX_EVENTS && { more: "There are more events than are shown: ask for fewer days." }),
    ...(skipped.length > 0 && { skipped: skipped.slice(0, MAX_SKIPPED) }),
  };
}

/** The event as it is now; a version that was given must still be its version. */
function current(params: Params, dav: Dav) {
  const found = dav.read(needed(params, "id"));
  if (params.version !== undefined && params.version !== found.version)
    throw new Refusal(
      "Someone else has changed this event since you read it. Nothing was changed: read it again first.",
    );
  if (found.version === "")
    throw new Refusal(
      "The server does not send versions of events, so this change could overwrite someone else's. Nothing was changed.",
    );
  return found;
}

function pick(calendars: readonly Collection[], name: string | undefined): Collection {
  const found = name === undefined ? calendars[0] : calendars.find((one) => one.name === name);
  if (found !== undefined) return found;
  const known = calendars.map((one) => one.name).join(", ") || "none";
  throw new Refusal(
    `There is no calendar${name === undefined ? "" : ` "${name}"`}. The calendars are: ${known}.`,
  );
}

function needed<Name extends keyof Params>(params: Params, name: Name): NonNullable<Params[Name]> {
  const value = params[name];
  if (value === undefined) throw new Refusal(`${params.action} needs ${name}.`);
  return value;
}

/** A day begins at midnight UTC, as does a time without a zone. */
function momentOf(time: string): number {
  const value = toValue(time);
  const [, date = "", clock = "000000"] = /^(\d{8})(?:T(\d{6}))?/.exec(value) ?? [];
  return Date.UTC(
    ...([Number(date.slice(0, 4)), Number(date.slice(4, 6)) - 1, Number(date.slice(6))] as const),
    ...([Number(clock.slice(0, 2)), Number(clock.slice(2, 4)), Number(clock.slice(4))] as const),
  );
}

const stamp = (date: Date): string => date.toISOString().replace(/[-:]|\.\d+/g, "");

const withoutMoment = <Event extends Occurrence>({ at: _, ...event }: Event): Omit<Event, "at"> => event;

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 300);
