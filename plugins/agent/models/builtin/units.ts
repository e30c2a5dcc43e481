/** The unit a number carries, where the output says it: by its own suffix or by a `units` field beside it. */

const SUFFIXES: readonly (readonly [RegExp, string])[] = [
  [/(^|_)(percent|pct)$|humidity|probability/i, "%"],
  [/_celsius$|_c$/i, "°C"],
  [/_fahrenheit$|_f$/i, "°F"],
  [/_kmh$|_kph$/i, "km/h"],
  [/_mph$/i, "mph"],
  [/_km$/i, "km"],
  [/_kg$/i, "kg"],
  [/_mm$/i, "mm"],
  [/_cm$/i, "cm"],
  [/_(ms|millis|milliseconds)$/i, "ms"],
  [/_(secs|seconds)$/i, "s"],
  [/_(minutes|mins)$/i, "min"],
  [/_hours$/i, "h"],
  [/_days$/i, "days"],
  [/_bytes$/i, "bytes"],
  [/_usd$/i, "USD"],
  [/_eur$/i, "EUR"],
  [/^pm(2_?5|10)$/i, "µg/m³"],
];

const BY_SYSTEM: readonly (readonly [RegExp, Readonly<Record<string, string>>])[] = [
  [/^temp|temperature|feels_like|dew_point/i, { metric: "°C", imperial: "°F" }],
  [/wind.*speed|^wind$|gust/i, { metric: "m/s", imperial: "mph" }],
];

export function unitOf(key: string, context: Readonly<Record<string, unknown>>): string {
  const suffix = SUFFIXES.find(([pattern]) => pattern.test(key));
  if (suffix) return suffix[1];
  const system = BY_SYSTEM.find(([pattern]) => pattern.test(key))?.[1][String(context["units"])];
  if (system !== undefined) return system;
  const currency = context["currency"];
  return typeof currency === "string" && /price|cost|amount|total|fee|balance/i.test(key) ? currency : "";
}
