/** Units by kind, each with its factor relative to the first unit of its kind, and its common names. */

export interface Unit {
  /** The unit's symbol in the result. */
  readonly symbol: string;
  readonly kind: string;
  readonly factor: number;
  /** Added after the factor: the scale's zero in the first unit. */
  readonly offset: number;
}

type Row = readonly [symbol: string, factor: number, names: string, offset?: number];

const INCH = 0.0254;
const FOOT = 0.3048;
const MILE = 1609.344;
const POUND = 0.45359237;
const GALLON = 3.785411784;
const DAY = 86_400;

const KINDS: Readonly<Record<string, readonly Row[]>> = {
  length: [
    ["m", 1, "meter metre"],
    ["km", 1000, "kilometer kilometre"],
    ["cm", 0.01, "centimeter centimetre"],
    ["mm", 0.001, "millimeter millimetre"],
    ["µm", 1e-6, "um micrometer micrometre micron"],
    ["nm", 1e-9, "nanometer nanometre"],
    ["mi", MILE, "mile"],
    ["yd", 3 * FOOT, "yard"],
    ["ft", FOOT, "foot feet"],
    ["in", INCH, "inch inches"],
    ["nmi", 1852, "nautical_mile"],
    ["ly", 9.4607304725808e15, "light_year"],
    ["au", 149_597_870_700, "astronomical_unit"],
  ],
  mass: [
    ["kg", 1, "kilogram kilo"],
    ["g", 0.001, "gram gramme"],
    ["mg", 1e-6, "milligram"],
    ["t", 1000, "tonne metric_ton"],
    ["lb", POUND, "pound lbs"],
    ["oz", POUND / 16, "ounce"],
    ["st", 14 * POUND, "stone"],
    ["ton", 2000 * POUND, "short_ton us_ton"],
  ],
  temperature: [
    ["K", 1, "kelvin"],
    ["°C", 1, "c celsius degc degree_celsius degrees_celsius", 273.15],
    ["°F", 5 / 9, "f fahrenheit degf degree_fahrenheit degrees_fahrenheit", 273.15 - 160 / 9],
  ],
  volume: [
    ["l", 1, "liter litre"],
    ["ml", 0.001, "milliliter millilitre cc"],
    ["cl", 0.01, "centiliter centilitre"],
    ["m³", 1000, "m3 cubic_meter cubic_metre"],
    ["gal", GALLON, "gallon us_gallon"],
    ["qt", GALLON / 4, "quart"],
    ["pt", GALLON / 8, "pint"],
    ["cup", GALLON / 16, "us_cup"],
    ["fl oz", GALLON / 128, "floz fl_oz fluid_ounce"],
    ["tbsp", GALLON / 256, "tablespoon"],
    ["tsp", GALLON / 768, "teaspoon"],
    ["imp gal", 4.54609, "imperial_gallon imp_gal"],
  ],
  area: [
    ["m²", 1, "m2 square_meter square_metre sqm"],
    ["km²", 1e6, "km2 square_kilometer square_kilometre"],
    ["ha", 10_000, "hectare"],
    ["ft²", FOOT ** 2, "ft2 square_foot square_feet sqft"],
    ["mi²", MILE ** 2, "mi2 square_mile"],
    ["acre", 4046.8564224, "ac"],
  ],
  speed: [
    ["m/s", 1, "mps meter_per_second meters_per_second"],
    ["km/h", 1 / 3.6, "kmh kph kilometer_per_hour kilometers_per_hour"],
    ["mph", MILE / 3600, "mi/h mile_per_hour miles_per_hour"],
    ["kn", 1852 / 3600, "knot kt"],
    ["ft/s", FOOT, "fps foot_per_second feet_per_second"],
  ],
  time: [
    ["s", 1, "sec second"],
    ["ms", 0.001, "millisecond"],
    ["min", 60, "minute"],
    ["h", 3600, "hr hour"],
    ["d", DAY, "day"],
    ["week", 7 * DAY, "wk"],
    ["year", 365.25 * DAY, "yr julian_year"],
  ],
  data: [
    ["B", 1, "byte"],
    ["bit", 1 / 8, "bits"],
    ["kB", 1e3, "kilobyte kb"],
    ["MB", 1e6, "megabyte mb"],
    ["GB", 1e9, "gigabyte gb"],
    ["TB", 1e12, "terabyte tb"],
    ["KiB", 2 ** 10, "kibibyte kib"],
    ["MiB", 2 ** 20, "mebibyte mib"],
    ["GiB", 2 ** 30, "gibibyte gib"],
    ["TiB", 2 ** 40, "tebibyte tib"],
  ],
  energy: [
    ["J", 1, "joule"],
    ["kJ", 1000, "kilojoule"],
    ["cal", 4.184, "calorie"],
    ["kcal", 4184, "kilocalorie"],
    ["Wh", 3600, "watt_hour"],
    ["kWh", 3.6e6, "kilowatt_hour"],
    ["BTU", 1055.05585262, "btu"],
  ],
  pressure: [
    ["Pa", 1, "pascal"],
    ["hPa", 100, "hectopascal mbar millibar"],
    ["kPa", 1000, "kilopascal"],
    ["bar", 1e5, "bars"],
    ["atm", 101_325, "atmosphere"],
    ["psi", 6894.757293168, "pound_per_square_inch"],
    ["mmHg", 133.322387415, "torr"],
  ],
  angle: [
    ["rad", 1, "radian"],
    ["°", Math.PI / 180, "deg degree"],
    ["turn", 2 * Math.PI, "revolution"],
  ],
};

const EXACT = new Map<string, Unit>();
const LOOSE = new Map<string, Unit>();
for (const [kind, rows] of Object.entries(KINDS)) {
  for (const [symbol, factor, names, offset = 0] of rows) {
    const unit = { symbol, kind, factor, offset };
    EXACT.set(symbol, unit);
    for (const name of [symbol, ...names.split(" ")]) {
      const loose = loosen(name);
      if (!LOOSE.has(loose)) LOOSE.set(loose, unit);
    }
  }
}

/** Exact symbols come first, because case can matter; then names, in any case, singular or plural. */
export function findUnit(text: string): Unit | undefined {
  const trimmed = text.trim();
  return EXACT.get(trimmed) ?? LOOSE.get(loosen(trimmed)) ?? LOOSE.get(loosen(singular(trimmed)));
}

export function unitsOf(kind: string): readonly string[] {
  return (KINDS[kind] ?? []).map(([symbol]) => symbol);
}

export const KIND_NAMES = Object.keys(KINDS);

function loosen(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]+/g, "");
}

function singular(text: string): string {
  return text.replace(/s(?=$|[\s_-]per[\s_-])/i, "");
}
