import { expect, test } from "vitest";
import { SCHEMA } from "../../../components/weather/params.ts";
import { compileParamsCheck } from "../../../host/sandbox/inside/params.ts";

const weather = compileParamsCheck(SCHEMA);

test.each([
  [{ action: "get_current" }, "'city' is missing"],
  [
    { action: "get_current", city: "Berlin", zip: 1 },
    "'zip' is not known; known are action, city, country_code, units",
  ],
  [{ action: "get_current", city: 7 }, "'city' must be a string, given 7"],
  [
    { action: "get_forecast", city: "B", units: "si" },
    `'units' must be one of "metric", "imperial", given "si"`,
  ],
  [{ action: "get_air_quality", lat: 91, lon: 0 }, "'lat' must be between -90 and 90, given 91"],
  [{ action: "get_air_quality", lat: 0, lon: -200 }, "'lon' must be between -180 and 180, given -200"],
  [
    { action: "get_rain" },
    `'action' must be one of "get_current", "get_forecast", "get_air_quality", given "get_rain"`,
  ],
  [
    { lat: 91, lon: 0 },
    `'action' is missing: it must be "get_air_quality"; 'lat' must be between -90 and 90, given 91`,
  ],
  [{}, "'action' is missing"],
  [[], "params must be an object, given an array"],
])("params %j are refused with what is wrong", (params, detail) => {
  expect(weather(JSON.stringify(params))).toEqual({ ok: false, detail });
});

test("params that match are let through, and text that is not JSON is named", () => {
  expect(weather('{"action":"get_current","city":""}')).toMatchObject({ ok: true });
  expect(weather("{")).toMatchObject({ ok: false, detail: expect.stringMatching(/^not JSON: /) });
});

test("__proto__ is an unknown name like any other: refused where the schema refuses those", () => {
  const detail = "'__proto__' is not known; known are action, city, country_code, units";
  const params = '{"action":"get_current","city":"Berlin","__proto__":{"city":7}}';
  expect(weather(params)).toEqual({ ok: false, detail });
  expect(weather('{"action":"get_current","__proto__":{"city":"Berlin"}}')).toMatchObject({ ok: false });
  const any = compileParamsCheck({ type: "object", properties: { city: { type: "string" } } });
  expect(any(params)).toMatchObject({ ok: true });
});

test("a schema of draft 7 and one with formats are understood", () => {
  const dated = compileParamsCheck({
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { day: { type: "string", format: "date" } },
  });
  expect(dated('{"day":"2026-11-15"}')).toMatchObject({ ok: true });
  expect(dated('{"day":"tomorrow"}')).toEqual({
    ok: false,
    detail: `'day' must match format "date", given "tomorrow"`,
  });
});

test("a schema that is none is refused when it is compiled", () => {
  expect(() => compileParamsCheck({ type: "objekt" })).toThrow(/schema is invalid/);
});

test("a pattern that backtracks without end costs the call, not the service", () => {
  const hostile = compileParamsCheck({
    type: "object",
    properties: { word: { type: "string", pattern: "^(a+)+$" } },
  });
  expect(hostile(JSON.stringify({ word: `${"a".repeat(60)}!` }))).toEqual({
    ok: false,
    detail: "the tool's schema cannot be checked: it takes longer than 1000 ms",
  });
  expect(hostile('{"word":"aaa"}')).toMatchObject({ ok: true });
});

test("references that fan out cost the call, not the service", () => {
  const levels = Array.from({ length: 40 }, (_, level) => [
    `l${level}`,
    level === 39 ? { type: "string" } : { allOf: [1, 2, 3].map(() => ({ $ref: `#/$defs/l${level + 1}` })) },
  ]);
  const hostile = compileParamsCheck({ $ref: "#/$defs/l0", $defs: Object.fromEntries(levels) });
  expect(hostile("{}")).toMatchObject({ ok: false, detail: expect.stringContaining("longer than 1000 ms") });
});

test("recursion that fans out with the params costs the call, not the service", () => {
  const hostile = compileParamsCheck({
    type: "object",
    additionalProperties: { allOf: [1, 2, 3, 4].map(() => ({ $recursiveRef: "#" })) },
  });
  const nested = `${'{"a":'.repeat(30)}{}${"}".repeat(30)}`;
  expect(hostile(nested)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("longer than 1000 ms"),
  });
});

test("of a list of thousands of values a refusal names fifty, however many params are wrong", () => {
  const check = compileParamsCheck({
    type: "object",
    properties: {
      codes: { type: "array", items: { enum: Array.from({ length: 4000 }, (_, code) => `c${code}`) } },
    },
  });
  const verdict = check(JSON.stringify({ codes: Array.from({ length: 500 }, () => "x") }));
  expect(verdict).toMatchObject({
    ok: false,
    detail: expect.stringContaining(`"c49", … (4000 in all), given "x"`),
  });
});

test("two tools whose schemas bear the same name do not meet", () => {
  const named = (type: string) => ({ $id: "https://a.test/s", type: "object", properties: { it: { type } } });
  const [text, number] = [compileParamsCheck(named("string")), compileParamsCheck(named("number"))];
  expect([text('{"it":"x"}').ok, text('{"it":1}').ok]).toEqual([true, false]);
  expect([number('{"it":"x"}').ok, number('{"it":1}').ok]).toEqual([false, true]);
});

test("params too many to be checked without a clock get the same verdict", () => {
  const check = compileParamsCheck({
    type: "object",
    properties: { list: { type: "array", items: { anyOf: [{ const: 1 }, { enum: [2, 3] }] } } },
    additionalProperties: false,
  });
  for (const count of [1, 200_000]) {
    const list = Array.from({ length: count }, (_, index) => (index % 3) + 1);
    expect(check(JSON.stringify({ list }))).toMatchObject({ ok: true });
    expect(check(JSON.stringify({ list: [...list, 4] }))).toMatchObject({ ok: false });
  }
});

test("a schema that refers to the schema of schemas is understood", () => {
  const check = compileParamsCheck({
    type: "object",
    properties: { schema: { $ref: "https://json-schema.org/draft/2020-12/schema" } },
  });
  expect(check('{"schema":{"type":"string"}}')).toMatchObject({ ok: true });
  expect(check('{"schema":{"type":"strong"}}')).toMatchObject({ ok: false });
});
