/** Tools as installers and callers declare them: some with branches, some with a single identifier. */

import { createMissions } from "../../../plugins/guidance/missions.ts";
import { loadTool } from "../../../plugins/guidance/skills.ts";
import { openFolderFiles } from "../../../plugins/home/folder.ts";
import { createSkills } from "../../../plugins/home/skills/skills.ts";
import { createMemory } from "../../../plugins/memory/memory.ts";
import type { ModelTool } from "../../../plugins/models/services.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { quiet, toolsOf } from "./memory.ts";

const place = {
  city: { type: "string", description: "Name of the city, for example Berlin" },
  country_code: {
    type: "string",
    description: "ISO 3166-1 alpha-2 code that narrows the search to one country",
  },
  units: {
    type: "string",
    enum: ["metric", "imperial"],
    default: "metric",
    description: "metric: Celsius and m/s; imperial: Fahrenheit and mph",
  },
};
const point = {
  lat: { type: "number", minimum: -90, maximum: 90, description: "Latitude in degrees" },
  lon: { type: "number", minimum: -180, maximum: 180, description: "Longitude in degrees" },
};

function action(name: string, description: string, properties: object, required: string[]) {
  return {
    type: "object",
    description,
    properties: { action: { const: name }, ...properties },
    required: ["action", ...required],
    additionalProperties: false,
  };
}

export const weather: ModelTool = {
  name: "weather",
  description: "Current weather, a 5-day forecast and air quality, from public data.",
  schema: {
    type: "object",
    oneOf: [
      action("get_current", "The weather in a city now", place, ["city"]),
      action("get_forecast", "The weather in a city for 5 days", place, ["city"]),
      action("get_air_quality", "The air quality at a point now", point, ["lat", "lon"]),
    ],
  },
};

export const lookupOrder: ModelTool = {
  name: "lookup_order",
  description: "Looks up an order and where it is",
  schema: {
    type: "object",
    properties: { order_id: { type: "string", description: "The number on the receipt" } },
    required: ["order_id"],
    additionalProperties: false,
  },
};

export const convert: ModelTool = {
  name: "convert",
  description: "Convert a value from one unit of measurement to another: length, mass, temperature.",
  schema: {
    type: "object",
    properties: {
      value: { type: "number", description: "How many of the unit to convert from" },
      from: { type: "string", description: "The unit it is in, such as miles, kg, °F or km/h" },
      to: { type: "string", description: "The unit it shall be in" },
    },
    required: ["value", "from", "to"],
    additionalProperties: false,
  },
};

const convertCurrency: ModelTool = {
  name: "convert_currency",
  description: "Converts an amount of money between two currencies",
  schema: {
    type: "object",
    properties: {
      amount: { type: "number", exclusiveMinimum: 0 },
      from: { type: "string", enum: ["USD", "EUR", "GBP", "JPY"] },
      to: { type: "string", enum: ["USD", "EUR", "GBP", "JPY"] },
    },
    required: ["amount", "from", "to"],
    additionalProperties: false,
  },
};

const sendEmail: ModelTool = {
  name: "send_email",
  description: "Sends an e-mail",
  schema: {
    type: "object",
    properties: {
      to: { type: "string", format: "email" },
      subject: { type: "string" },
      body: { type: "string" },
      urgent: { type: "boolean", description: "Marks it as urgent" },
    },
    required: ["to", "body"],
    additionalProperties: false,
  },
};

const bookTable: ModelTool = {
  name: "book_table",
  description: "Books a table in a restaurant",
  schema: {
    type: "object",
    properties: {
      restaurant: { type: "string" },
      date: { type: "string", format: "date" },
      time: { type: "string", description: "HH:MM:SS" },
      guests: { type: "integer", minimum: 1, maximum: 20 },
    },
    required: ["restaurant", "date", "guests"],
    additionalProperties: false,
  },
};

const webSearch: ModelTool = {
  name: "web_search",
  description: "Searches the web",
  schema: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer", minimum: 1, maximum: 50 } },
    required: ["query"],
  },
};

/** The agent's own, as they are. */
export const own: readonly ModelTool[] = await (async () => {
  const store = openStore(":memory:");
  const memory = await createMemory({ store, vectors: false, log: quiet });
  return [
    ...toolsOf(memory),
    ...(await createMissions(store)).tools,
    loadTool(createSkills(openFolderFiles("/nowhere"))),
  ];
})();

/** All of them side by side. */
export const everyTool: readonly ModelTool[] = [
  weather,
  lookupOrder,
  convert,
  convertCurrency,
  sendEmail,
  bookTable,
  webSearch,
  ...own,
];
