import { expect, test } from "vitest";
import { describeWeather, labelAirQuality } from "../../../components/weather/tables.ts";

const DESCRIPTIONS = `0 Clear sky; 1 Mainly clear; 2 Partly cloudy; 3 Overcast; 45 Fog; 51 Light drizzle; 61 Slight rain; 63 Moderate rain; 65 Heavy rain; 71 Slight snow; 73 Moderate snow; 75 Heavy snow; 80 Slight rain showers; 95 Thunderstorm; 4 Unknown; 48 Unknown; 99 Unknown; -1 Unknown`;

test.each(
  DESCRIPTIONS.split("; ").map((row) => [Number.parseInt(row, 10), row.replace(/^-?\d+ /, "")] as const),
)("§4.4 weather code %i is described as %s", (code, description) => {
  expect(describeWeather(code)).toBe(description);
});

test.each([
  [0, "Good"],
  [20, "Good"],
  [21, "Fair"],
  [40, "Fair"],
  [41, "Moderate"],
  [60, "Moderate"],
  [61, "Poor"],
  [80, "Poor"],
  [81, "Very Poor"],
  [100, "Very Poor"],
  [101, "Extremely Poor"],
  [500, "Extremely Poor"],
])("§4.4 a European AQI of %i is labelled %s", (aqi, label) => {
  expect(labelAirQuality(aqi)).toBe(label);
});
