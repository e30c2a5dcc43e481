/** The tool. capabilities.json lists what it may reach; the host checks every request against it. */
import { httpRequest, log } from "postern:tool/host@0.1.0";

/** The schema of params. The model reads it, and the host checks params against it before `execute`. */
const SCHEMA = {
  type: "object",
  properties: {
    date: { type: "string", format: "date", description: "The day to count to, such as 2030-01-31" },
    country: {
      type: "string",
      pattern: "^[A-Z]{2}$",
      description: "Instead of a date: count to the next public holiday of this country, such as DE",
    },
  },
  additionalProperties: false,
};

export const tool = {
  description: () => "Counts the days until a date, or until the next public holiday of a country.",

  schema: () => JSON.stringify(SCHEMA),

  execute({ params }) {
    try {
      return { output: JSON.stringify(countdown(JSON.parse(params))) };
    } catch (error) {
      return { error: explain(error) };
    }
  },
};

function countdown({ date, country }) {
  if (date !== undefined) return { date, days: daysUntil(date) };
  if (country === undefined) throw new Error("Give 'date' or 'country'.");
  const [next] = nextHolidays(country);
  if (next === undefined) throw new Error(`No public holidays found for ${country}.`);
  return { ...next, days: daysUntil(next.date) };
}

function daysUntil(date) {
  const today = new Date().toISOString().slice(0, 10);
  return Math.round((Date.parse(date) - Date.parse(today)) / 86_400_000);
}

function nextHolidays(country) {
  const url = `https://date.nager.at/api/v3/NextPublicHolidays/${country}`;
  log("info", `fetching the public holidays of ${country}`);
  const { status, body } = httpRequest("GET", url, "{}", undefined, undefined);
  const text = new TextDecoder().decode(body);
  if (status !== 200) throw new Error(`date.nager.at returned ${status}: ${text.slice(0, 200)}`);
  const holidays = JSON.parse(text);
  return holidays.map(({ date, name }) => ({ date, name }));
}

/** The host throws errors with the reason in `payload`. */
function explain(error) {
  return error.payload ?? error.message ?? String(error);
}
