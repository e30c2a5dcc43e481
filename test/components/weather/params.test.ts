import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { readParams, SCHEMA } from "../../../components/weather/params.ts";

const read = (params: unknown) => readParams(JSON.stringify(params));
const matches = new Ajv({ strict: false }).compile(SCHEMA);

describe("§4.4 weather params", () => {
  test("§4.4 the schema is a oneOf with action as discriminator and additionalProperties false in each branch", () => {
    expect(SCHEMA.oneOf.map(({ properties }) => properties.action.const)).toEqual([
      "get_current",
      "get_forecast",
      "get_air_quality",
    ]);
    for (const branch of SCHEMA.oneOf) expect(branch.additionalProperties).toBe(false);
  });

  test.each([
    [{ action: "get_current", city: "Berlin" }, true],
    [{ action: "get_forecast", city: "Berlin", country_code: "DE", units: "imperial" }, true],
    [{ action: "get_air_quality", lat: -90, lon: 180 }, true],
    [{ action: "get_current" }, false],
    [{ action: "get_current", city: "Berlin", lat: 1 }, false],
    [{ action: "get_air_quality", lat: 1 }, false],
    [{ action: "get_air_quality", lat: 90.1, lon: 0 }, false],
    [{ action: "get_forecast", city: "Berlin", units: "kelvin" }, false],
    [{ city: "Berlin" }, false],
  ])("§4.4 the schema and the parser agree on %j", (params, accepted) => {
    expect(matches(params)).toBe(accepted);
    if (accepted) expect(read(params)).toMatchObject({ action: expect.stringMatching(/^get_/) });
    else expect(() => read(params)).toThrow();
  });

  test("§4.4 units default to metric", () => {
    expect(read({ action: "get_current", city: "Berlin" })).toEqual({
      action: "get_current",
      city: "Berlin",
      countryCode: "",
      units: "metric",
    });
  });

  test.each(["", "   "])("§4.4 an empty city (%j) gives 'city' must not be empty", (city) => {
    expect(() => read({ action: "get_current", city })).toThrow(/^'city' must not be empty$/);
  });

  test.each([
    ["{", /^Invalid parameters: ./],
    ["[]", /^Invalid parameters: expected a JSON object$/],
    ["null", /^Invalid parameters: expected a JSON object$/],
    [
      "{}",
      /^Invalid parameters: missing 'action', expected one of get_current, get_forecast, get_air_quality$/,
    ],
    ['{"action":"get_rain"}', /^Invalid parameters: unknown action "get_rain", expected one of get_current/],
    ['{"action":"get_current"}', /^Invalid parameters: missing field 'city' for get_current$/],
    ['{"action":"get_current","city":7}', /^Invalid parameters: 'city' must be a string$/],
    ['{"action":"get_current","city":"B","zip":1}', /^Invalid parameters: unknown field 'zip'/],
    ['{"action":"get_current","city":"B","units":"si"}', /^Invalid parameters: 'units' must be metric or im/],
    ['{"action":"get_air_quality","lat":"1","lon":2}', /^Invalid parameters: 'lat' must be a number$/],
  ])("§4.4 unparseable params %s give Invalid parameters and the detail", (text, message) => {
    expect(() => readParams(text)).toThrow(message);
  });

  test.each([
    [{ lat: 91, lon: 0 }, "'lat' must be between -90 and 90, given 91"],
    [{ lat: -90.5, lon: 0 }, "'lat' must be between -90 and 90, given -90.5"],
    [{ lat: 0, lon: 180.1 }, "'lon' must be between -180 and 180, given 180.1"],
    [{ lat: 0, lon: -181 }, "'lon' must be between -180 and 180, given -181"],
  ])("§4.4 a point out of range %j gives an error that names the field and its range", (point, message) => {
    expect(() => read({ action: "get_air_quality", ...point })).toThrow(message);
  });
});
