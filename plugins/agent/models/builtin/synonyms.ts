/** Words that people use for one another. Each group lists stems of one idea; a word may be in several. */
import { stem } from "./words.ts";

const GROUPS = [
  "weather temperature rain raining rainy sunny snow snowing windy warm cold hot umbrella degrees climate",
  "forecast tomorrow tonight weekend outlook upcoming",
  "current currently now today",
  "pollution polluted smog aqi airquality",
  "metric celsius centigrade kilometres kilometers",
  "imperial fahrenheit miles mph",
  "order purchase parcel package shipment delivery",
  "search find lookup seek",
  "create add new make",
  "delete remove erase drop cancel",
  "complete finish done close finished",
  "show list display view see",
  "update change edit modify rename",
  "send deliver post forward",
  "email mail e-mail",
  "message text sms note",
  "price cost quote rate worth",
  "convert exchange change",
  "currency money cash euro dollar pound yen",
  "usd dollar buck",
  "eur euro",
  "gbp pound sterling",
  "jpy yen",
  "stock share ticker",
  "user customer client account person",
  "calendar event meeting appointment schedule agenda",
  "task todo reminder",
  "mission goal objective aim",
  "memory remember note notes",
  "file document doc",
  "translate translation",
  "city town place location",
  "lat latitude",
  "lon lng long longitude",
  "quantity amount count number",
  "add sum plus total",
  "flight plane fly",
  "hotel room stay accommodation",
  "restaurant table dinner",
  "news headline article",
  "image picture photo",
  "colour color",
  "bug issue ticket",
  "repo repository",
];

const related = new Map<string, Set<string>>();
for (const group of GROUPS) {
  const stems = group.split(" ").map(stem);
  for (const one of stems) {
    const known = related.get(one) ?? new Set<string>();
    for (const other of stems) if (other !== one) known.add(other);
    related.set(one, known);
  }
}

export function relatedTo(stemmed: string): ReadonlySet<string> {
  return related.get(stemmed) ?? NONE;
}

export function means(one: string, other: string): boolean {
  return one === other || relatedTo(one).has(other);
}

const NONE: ReadonlySet<string> = new Set();
