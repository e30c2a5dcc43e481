import { expect, test } from "vitest";
import type { CityQuery } from "../../../components/weather/params.ts";
import { airQuality, currentWeather, forecast } from "../../../components/weather/providers.ts";

const BERLIN: CityQuery = { city: "Berlin", countryCode: "", units: "metric" };
const FOUND = { results: [{ name: "Berlin", country: "Germany", latitude: 52.52437, longitude: 13.41053 }] };

/** Returns the answers in order and records the requested URLs. */
function playing(...answers: unknown[]) {
  const asked: URL[] = [];
  return {
    asked,
    query: (index: number) => Object.fromEntries(asked[index]?.searchParams ?? []),
    fetch: (url: string) => {
      asked.push(new URL(url));
      return answers[asked.length - 1];
    },
  };
}

test("§4.4 a city is resolved by its first result, in English", () => {
  const upstream = playing(FOUND, { current: {} });
  currentWeather(BERLIN, upstream.fetch);
  expect(upstream.asked[0]?.href.split("?")[0]).toBe("https://geocoding-api.open-meteo.com/v1/search");
  expect(upstream.query(0)).toEqual({ name: "Berlin", count: "1", language: "en", format: "json" });
  expect(upstream.query(1)).toMatchObject({ latitude: "52.52437", longitude: "13.41053" });
});

test("§4.4 a country_code that is given and not empty narrows the search", () => {
  const upstream = playing(FOUND, { current: {} });
  currentWeather({ ...BERLIN, countryCode: "DE" }, upstream.fetch);
  expect(upstream.query(0)).toMatchObject({ countryCode: "DE" });
});

test.each([{}, { results: [] }, { results: null }])(
  "§4.4 an empty or missing result list (%j) gives City not found",
  (answer) => {
    expect(() => forecast({ ...BERLIN, city: "Atlantis" }, playing(answer).fetch)).toThrow(
      /^City not found: Atlantis$/,
    );
  },
);

test.each([
  ["metric", "celsius", "ms"],
  ["imperial", "fahrenheit", "mph"],
] as const)("§4.4 %s means %s and %s", (units, temperature, wind) => {
  const upstream = playing(FOUND, { current: {} }, FOUND, { daily: {} });
  expect(currentWeather({ ...BERLIN, units }, upstream.fetch).units).toBe(units);
  expect(forecast({ ...BERLIN, units }, upstream.fetch).units).toBe(units);
  for (const request of [1, 3]) {
    expect(upstream.query(request)).toMatchObject({ temperature_unit: temperature, wind_speed_unit: wind });
  }
});

test("§4.4 the forecast requests 5 days and returns one entry per day", () => {
  const upstream = playing(FOUND, {
    daily: {
      time: ["2026-11-15", "2026-11-16"],
      weather_code: [61, 48],
      temperature_2m_max: [9.1, 8],
      temperature_2m_min: [3.4, null],
      precipitation_probability_max: [80],
    },
  });
  expect(forecast(BERLIN, upstream.fetch)).toEqual({
    city: "Berlin",
    country: "Germany",
    units: "metric",
    entries: [
      {
        date: "2026-11-15",
        temp_max: 9.1,
        temp_min: 3.4,
        description: "Slight rain",
        precipitation_probability_max: 80,
      },
      {
        date: "2026-11-16",
        temp_max: 8,
        temp_min: 0,
        description: "Unknown",
        precipitation_probability_max: 0,
      },
    ],
  });
  expect(upstream.query(1)).toMatchObject({ forecast_days: "5", timezone: "auto" });
});

test("§4.4 missing numbers default to 0", () => {
  expect(currentWeather(BERLIN, playing(FOUND, { current: { temperature_2m: null } }).fetch)).toEqual({
    city: "Berlin",
    country: "Germany",
    temperature: 0,
    feels_like: 0,
    humidity: 0,
    wind_speed: 0,
    description: "Clear sky",
    units: "metric",
  });
  expect(airQuality({ lat: 1, lon: 2 }, playing({ current: {} }).fetch)).toEqual({
    lat: 1,
    lon: 2,
    european_aqi: 0,
    aqi_label: "Good",
    pm2_5: 0,
    pm10: 0,
  });
});

test.each([{}, { current: null, daily: [] }, null, "soon"])(
  "no data at all (%j) is said, not shown as 0",
  (answer) => {
    expect(() => currentWeather(BERLIN, playing(FOUND, answer).fetch)).toThrow(
      "The provider sent no current weather for Berlin.",
    );
    expect(() => airQuality({ lat: 1, lon: 2 }, playing(answer).fetch)).toThrow(
      "The provider sent no air quality for 1, 2.",
    );
    expect(() => forecast(BERLIN, playing(FOUND, answer).fetch)).toThrow(
      "The provider sent no forecast for Berlin.",
    );
  },
);

test("§4.4 humidity, european_aqi and precipitation_probability_max are integers", () => {
  expect(
    currentWeather(BERLIN, playing(FOUND, { current: { relative_humidity_2m: 81.6 } }).fetch).humidity,
  ).toBe(82);
  const air = airQuality(
    { lat: 1, lon: 2 },
    playing({ current: { european_aqi: 20.4, pm2_5: 4.2, pm10: 7 } }).fetch,
  );
  expect(air).toMatchObject({ european_aqi: 20, aqi_label: "Good", pm2_5: 4.2, pm10: 7 });
});
