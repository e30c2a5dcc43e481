/** Descriptions of the provider's codes. */

const DESCRIPTIONS = new Map([
  [0, "Clear sky"],
  [1, "Mainly clear"],
  [2, "Partly cloudy"],
  [3, "Overcast"],
  [45, "Fog"],
  [51, "Light drizzle"],
  [61, "Slight rain"],
  [63, "Moderate rain"],
  [65, "Heavy rain"],
  [71, "Slight snow"],
  [73, "Moderate snow"],
  [75, "Heavy snow"],
  [80, "Slight rain showers"],
  [95, "Thunderstorm"],
]);

export function describeWeather(code: number): string {
  return DESCRIPTIONS.get(code) ?? "Unknown";
}

const AIR_QUALITY = [
  { upTo: 20, label: "Good" },
  { upTo: 40, label: "Fair" },
  { upTo: 60, label: "Moderate" },
  { upTo: 80, label: "Poor" },
  { upTo: 100, label: "Very Poor" },
];

export function labelAirQuality(europeanAqi: number): string {
  return AIR_QUALITY.find(({ upTo }) => europeanAqi <= upTo)?.label ?? "Extremely Poor";
}
