/** The params that the model can send. */

export interface Params {
  readonly action: "list" | "read" | "add" | "move" | "cancel" | "contacts";
  readonly calendar?: string;
  readonly from?: string;
  readonly to?: string;
  readonly id?: string;
  readonly version?: string;
  readonly occurrence?: string;
  readonly title?: string;
  readonly start?: string;
  readonly end?: string;
  readonly time_zone?: string;
  readonly location?: string;
  readonly description?: string;
  readonly query?: string;
}

const time = (description: string) => ({
  type: "string",
  pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2})?Z?)?$",
  description,
});
const words = (maxLength: number, description: string) => ({
  type: "string",
  minLength: 1,
  maxLength,
  description,
});

export const SCHEMA = {
  type: "object",
  properties: {
    action: {
      type: "string",
      enum: ["list", "read", "add", "move", "cancel", "contacts"],
      description:
        "list: events between from and to; read: one event whole; add: a new event; move: an event to another time; cancel: an event, or one occurrence of a series; contacts: find people in the address books",
    },
    calendar: words(
      200,
      "list, add: the calendar's name; list: default all of them; add: default the first one",
    ),
    from: time("list: the first day or moment, such as 2026-11-20 or 2026-11-20T08:00:00Z"),
    to: time("list: the day or moment at which to end, itself not included; at most 366 days after from"),
    id: words(1000, "read, move, cancel: the id that list gave"),
    version: words(500, "move, cancel: the version that list or read gave; refused if the event has changed"),
    occurrence: words(40, "move, cancel: the occurrence of a series, as list gave it"),
    title: words(500, "add: what it is"),
    start: time(
      "add, move: when it begins: a day for all-day events, or a local time such as 2026-11-20T15:00 in the event's own time zone",
    ),
    end: time(
      "add, move: when it ends, in the same form; default: one hour or one day, or as long as before",
    ),
    time_zone: words(60, "add: the time zone of start and end, such as Europe/Berlin; default UTC"),
    location: words(500, "add: where it is"),
    description: words(8000, "add: more about it"),
    query: words(200, "contacts: a part of the name or of an e-mail address"),
  },
  required: ["action"],
  additionalProperties: false,
} as const;
