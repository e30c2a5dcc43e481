import { expect, test } from "vitest";
import { findUnit, KIND_NAMES, unitsOf } from "../../../components/convert/units.ts";

test.each([
  ["miles", "mi"],
  ["Feet", "ft"],
  ["inches", "in"],
  ["degrees Celsius", "°C"],
  ["F", "°F"],
  ["km/h", "km/h"],
  ["miles per hour", "mph"],
  ["square feet", "ft²"],
  ["MB", "MB"],
  ["mb", "MB"],
  ["MiB", "MiB"],
  ["kilograms", "kg"],
  ["lbs", "lb"],
  ["fl oz", "fl oz"],
])("%s is known as %s", (text, symbol) => {
  expect(findUnit(text)?.symbol).toBe(symbol);
});

test("every unit is found by its symbol and listed under its kind", () => {
  for (const kind of KIND_NAMES) {
    for (const symbol of unitsOf(kind)) expect(findUnit(symbol)).toMatchObject({ symbol, kind });
  }
});

test("an unknown unit is not guessed", () => {
  expect(findUnit("parsnip")).toBeUndefined();
  expect(findUnit("")).toBeUndefined();
});
