/** Open-Meteo's three APIs: the request to each, and the fields used from its response. */
import type { CityQuery, Units } from "./params.ts";
import { Refusal } from "./refusal.ts";
import { describeWeather, labelAirQuality } from "./tables.ts";

const GEOCODING_URL = "https://geocoding-api.open-meteo.com/v1/search";
const FORECAST_URL = "https://api.open-meteo.com/v1/forecast";
const AIR_QUALITY_URL = "https://air-quality-api.open-meteo.com/v1/air-quality";
const FORECAST_DAYS = 5;

const UNITS = {
  metric: { temperature_unit: "celsius", wind_speed_unit: "ms" },
  imperial: { temperature_unit: "fahrenheit", wind_speed_unit: "mph" },
};

/** Returns the parsed body of a GET, or throws a `Refusal`. */
export type Fetch = (url: string) => unknown;

interface Spot {
  readonly city: string;
  readonly country: string;
  readonly latitude: number;
  readonly longitude: number;
}

export function currentWeather(place: CityQuery, fetch: Fetch) {
  const spot = locate(place, fetch);
  const answer = fetch(
    forecastUrl(spot, place.units, {
      current: "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m",
    }),
  );
  const current = part(answer, "current", `no current weather for ${spot.city}`);
  return {
    city: spot.city,
    country: spot.country,
    temperature: number(field(current, "temperature_2m")),
    feels_like: number(field(current, "apparent_temperature")),
    humidity: integer(field(current, "relative_humidity_2m")),
    wind_speed: number(field(current, "wind_speed_10m")),
    description: describeWeather(number(field(current, "weather_code"))),
    units: place.units,
  };
}

export function forecast(place: CityQuery, fetch: Fetch) {
  const spot = locate(place, fetch);
  const answer = fetch(
    forecastUrl(spot, place.units, {
      daily: "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max",
      // Without a time zone the provider would count days in UTC.
      timezone: "auto",
      forecast_days: String(FORECAST_DAYS),
    }),
  );
  const daily = part(answer, "daily", `no forecast for ${spot.city}`);
  const column = (name: string) => list(field(daily, name));
  const [max, min] = [column("temperature_2m_max"), column("temperature_2m_min")];
  const [codes, rain] = [column("weather_code"), column("precipitation_probability_max")];
  return {
    city: spot.city,
    country: spot.country,
    units: place.units,
    entries: column("time")
      .slice(0, FORECAST_DAYS)
      .map((date, day) => ({
        date: text(date),
        temp_max: number(max[day]),
        temp_min: number(min[day]),
        description: describeWeather(number(codes[day])),
        precipitation_probability_max: integer(rain[day]),
      })),
  };
}

export function airQuality({ lat, lon }: { lat: number; lon: number }, fetch: Fetch) {
  const answer = fetch(
    address(AIR_QUALITY_URL, {
      latitude: String(lat),
      longitude: String(lon),
      current: "european_aqi,pm2_5,pm10",
    }),
  );
  const current = part(answer, "current", `no air quality for ${lat}, ${lon}`);
  const europeanAqi = integer(field(current, "european_aqi"));
  return {
    lat,
    lon,
    european_aqi: europeanAqi,
    aqi_label: labelAirQuality(europeanAqi),
    pm2_5: number(field(current, "pm2_5")),
    pm10: number(field(current, "pm10")),
  };
}

function locate({ city, countryCode }: CityQuery, fetch: Fetch): Spot {
  const answer = fetch(
    address(GEOCODING_URL, {
      name: city,
      count: "1",
      language: "en",
      format: "json",
      ...(countryCode === "" ? {} : { countryCode }),
    }),
  );
  const [first] = list(field(answer, "results"));
  if (first === undefined) throw new Refusal(`City not found: ${city}`);
  return {
    city: text(field(first, "name")) || city,
    country: text(field(first, "country")),
    latitude: number(field(first, "latitude")),
    longitude: number(field(first, "longitude")),
  };
}

function forecastUrl(spot: Spot, units: Units, query: Record<string, string>): string {
  return address(FORECAST_URL, {
    latitude: String(spot.latitude),
    longitude: String(spot.longitude),
    ...query,
    ...UNITS[units],
  });
}

function address(url: string, query: Record<string, string>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${url}?${pairs.join("&")}`;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** §4.4 single numbers that are missing count as 0; without any of them there is nothing to tell. */
function part(answer: unknown, name: string, otherwise: string): object {
  const value = field(answer, name);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Refusal(`The provider sent ${otherwise}.`);
  return value;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function integer(value: unknown): number {
  return Math.round(number(value));
}
