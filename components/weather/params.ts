/** The params the model can send: their schema, and parsing them. */
import { Refusal } from "./refusal.ts";

export type Units = "metric" | "imperial";

export interface CityQuery {
  readonly city: string;
  /** Upper case; empty to search all countries. */
  readonly countryCode: string;
  readonly units: Units;
}

export type Params =
  | ({ readonly action: "get_current" } & CityQuery)
  | ({ readonly action: "get_forecast" } & CityQuery)
  | { readonly action: "get_air_quality"; readonly lat: number; readonly lon: number };

const LAT = { min: -90, max: 90 };
const LON = { min: -180, max: 180 };

const PLACE = {
  city: { type: "string", description: "Name of the city, for example Berlin" },
  country_code: {
    type: "string",
    description: "ISO 3166-1 alpha-2 code to limit the search to one country, for example DE",
  },
  units: {
    type: "string",
    enum: ["metric", "imperial"],
    default: "metric",
    description: "metric: Celsius and m/s; imperial: Fahrenheit and mph",
  },
};

const POINT = {
  lat: { type: "number", minimum: LAT.min, maximum: LAT.max, description: "Latitude in degrees" },
  lon: { type: "number", minimum: LON.min, maximum: LON.max, description: "Longitude in degrees" },
};

const ACTIONS = {
  get_current: { about: "The weather in a city now", properties: PLACE, required: ["city"] },
  get_forecast: { about: "The weather in a city for 5 days", properties: PLACE, required: ["city"] },
  get_air_quality: {
    about: "The air quality at a point now",
    properties: POINT,
    required: ["lat", "lon"],
  },
};

export const SCHEMA = {
  type: "object",
  oneOf: Object.entries(ACTIONS).map(([action, { about, properties, required }]) => ({
    type: "object",
    description: about,
    properties: { action: { const: action }, ...properties },
    required: ["action", ...required],
    additionalProperties: false,
  })),
};

export function readParams(text: string): Params {
  const fields = parseObject(text);
  const { action } = fields;
  if (action !== "get_current" && action !== "get_forecast" && action !== "get_air_quality") {
    throw invalid(
      action === undefined
        ? `missing 'action', expected one of ${Object.keys(ACTIONS).join(", ")}`
        : `unknown action ${JSON.stringify(action)}, expected one of ${Object.keys(ACTIONS).join(", ")}`,
    );
  }
  const { properties, required } = ACTIONS[action];
  for (const name of Object.keys(fields)) {
    if (name !== "action" && !Object.hasOwn(properties, name)) {
      const accepted = Object.keys(properties).join(", ");
      throw invalid(`unknown field '${name}' for ${action}, expected one of ${accepted}`);
    }
  }
  for (const name of required) {
    if (fields[name] === undefined) throw invalid(`missing field '${name}' for ${action}`);
  }
  return action === "get_air_quality"
    ? { action, lat: readDegrees(fields, "lat", LAT), lon: readDegrees(fields, "lon", LON) }
    : { action, ...readPlace(fields) };
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("expected a JSON object");
  }
  return value as Fields;
}

function readPlace(fields: Fields): CityQuery {
  const city = readText(fields, "city").trim();
  const countryCode = readText(fields, "country_code").trim().toUpperCase();
  const { units = "metric" } = fields;
  if (units !== "metric" && units !== "imperial") {
    throw invalid(`'units' must be metric or imperial, given ${JSON.stringify(units)}`);
  }
  if (city === "") throw new Refusal("'city' must not be empty");
  return { city, countryCode, units };
}

function readText(fields: Fields, name: string): string {
  const value = fields[name] ?? "";
  if (typeof value !== "string") throw invalid(`'${name}' must be a string`);
  return value;
}

function readDegrees(fields: Fields, name: string, { min, max }: { min: number; max: number }): number {
  const value = fields[name];
  if (typeof value !== "number") throw invalid(`'${name}' must be a number`);
  if (value < min || value > max) {
    throw new Refusal(`'${name}' must be between ${min} and ${max}, given ${value}`);
  }
  return value;
}

function invalid(detail: string): Refusal {
  return new Refusal(`Invalid parameters: ${detail}`);
}
