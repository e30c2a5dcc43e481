import { describe, expect, test } from "vitest";
import { compileBoundedCheck } from "../../../host/sandbox/inside/bounded-check.ts";
import { compileCheck } from "../../../kernel/schema/check.ts";
import { describeMistakes } from "../../../kernel/schema/mistake.ts";

/** The same words from both checks: of our own schemas, and of strangers'. */
function detailsOf(schema: object, value: unknown): string {
  const own = describeMistakes(compileCheck(schema as never)(value), "It");
  const bounded = compileBoundedCheck(schema as never)(value, JSON.stringify(value).length);
  expect(describeMistakes(bounded, "It")).toBe(own);
  return own;
}

const fields = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest });

describe("a mistake names the field, what it must be and what was given", () => {
  test.each([
    [fields({ a: { type: "string" } }), { a: 7 }, "'a' must be a string, given 7"],
    [fields({ a: { type: ["string", "null"] } }), { a: [] }, "'a' must be a string or null, given an array"],
    [fields({ a: { type: "integer" } }), { a: 1.5 }, "'a' must be a whole number, given 1.5"],
    [fields({}, { required: ["a"] }), {}, "'a' is missing"],
    [fields({ a: {} }, { additionalProperties: false }), { a: 1, b: 2 }, "'b' is not known; known are a"],
    [
      fields({ a: { type: "number", minimum: 1, maximum: 9 } }),
      { a: 0 },
      "'a' must be between 1 and 9, given 0",
    ],
    [fields({ a: { type: "number", minimum: 1 } }), { a: 0 }, "'a' must be at least 1, given 0"],
    [fields({ a: { type: "string", minLength: 1 } }), { a: "" }, "'a' must not be empty"],
    [
      fields({ a: { type: "string", maxLength: 2 } }),
      { a: "xyz" },
      `'a' must have at most 2 characters, given "xyz"`,
    ],
    [fields({ a: { enum: ["x", "y"] } }), { a: "z" }, `'a' must be one of "x", "y", given "z"`],
    [
      fields({ a: { type: "array", items: fields({ "b/c": { type: "string" } }) } }),
      { a: [{}, { "b/c": null }] },
      "'a[1].b/c' must be a string, given null",
    ],
    [{ type: "object" }, "text", `It must be an object, given "text"`],
  ])("%j refuses %j", (schema, value, detail) => {
    expect(detailsOf(schema, value)).toBe(detail);
  });

  test("a long text is shortened, and the inside of an object is not shown", () => {
    const [mistake] = compileCheck(fields({ a: { type: "number" } }))({ a: "x".repeat(1000) });
    expect(mistake?.problem.length).toBeLessThan(100);
    let deep: unknown = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(compileCheck(fields({ a: { type: "number" } }))({ a: deep })).toEqual([
      { path: "a", problem: "must be a number, given an array" },
    ]);
  });

  test("the words of a schema's author come first", () => {
    const check = compileCheck(
      fields(
        { t: { type: "number", maximum: 2, refusal: "must be a number from 0.0 to 2.0" } },
        { required: ["t"] },
      ),
    );
    expect(check({ t: 3 })).toEqual([{ path: "t", problem: "must be a number from 0.0 to 2.0, given 3" }]);
    expect(check({}, "items[3]")).toEqual([
      { path: "items[3].t", problem: "is missing: it must be a number from 0.0 to 2.0" },
    ]);
  });

  test("of a value with very many mistakes only the first is explained", () => {
    const check = compileCheck({ type: "array", items: { type: "string" } });
    expect(check(Array.from({ length: 200_000 }, () => 1))).toEqual([
      { path: "[0]", problem: "must be a string, given 1" },
    ]);
    expect(check([1, 2])).toHaveLength(2);
  });

  test("a query's texts are read as what the schema wants", () => {
    const query = { limit: "5" };
    const check = compileCheck(fields({ limit: { type: "integer" } }), { coerces: true });
    expect(check(query)).toEqual([]);
    expect(query).toEqual({ limit: 5 });
    expect(check({ limit: "many" })).toEqual([
      { path: "limit", problem: `must be a whole number, given "many"` },
    ]);
  });
});

describe("of branches that exclude each other only the one that was meant is explained", () => {
  const circle = fields(
    { shape: { const: "circle" }, radius: { type: "number", minimum: 0, maximum: 10 } },
    { required: ["shape", "radius"], additionalProperties: false },
  );
  const square = fields(
    { shape: { const: "square" }, side: { type: "number" } },
    { required: ["shape", "side"], additionalProperties: false },
  );
  const inline = { type: "object", oneOf: [circle, square] };
  const referenced = {
    type: "object",
    anyOf: [{ $ref: "#/$defs/circle" }, { $ref: "#/$defs/square" }],
    $defs: { circle, square },
  };

  describe.each([
    ["oneOf with branches inside", inline],
    ["anyOf with branches by reference", referenced],
  ])("%s", (_title, schema) => {
    test.each([
      ["by its constant", { shape: "circle", radius: 11 }, "'radius' must be between 0 and 10, given 11"],
      [
        "by its fields, where the constant is missing",
        { radius: 11 },
        `'shape' is missing: it must be "circle"; 'radius' must be between 0 and 10, given 11`,
      ],
      [
        "none, where the constant is another",
        { shape: "line" },
        `'shape' must be one of "circle", "square", given "line"`,
      ],
      ["none, where nothing is there", {}, "'shape' is missing"],
    ])("%s", (_case, value, detail) => {
      expect(detailsOf(schema, value)).toBe(detail);
      // The same as an item among others, beside a mistake that is no branch's.
      const list = fields({ list: { type: "array", items: schema }, name: { type: "string" } });
      const nested = detailsOf(
        { ...list, ...("$defs" in schema && { $defs: schema.$defs }) },
        { list: [{ shape: "square", side: 1 }, value], name: 1 },
      );
      expect(nested).toBe(
        `${detail.replaceAll(/'(?=\w+' )/g, "'list[1].")}; 'name' must be a string, given 1`,
      );
    });
  });

  test.each([
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, 7, "It must be a string or null, given 7"],
    [{ anyOf: [{ const: "a" }, { const: "b" }] }, "c", `It must be one of "a", "b", given "c"`],
    [{ anyOf: [{ const: "a" }, { type: "number" }] }, "c", `It must be "a" or a number, given "c"`],
    [
      { anyOf: [{ type: "string" }, fields({ x: { type: "number" } }, { required: ["x"] })] },
      { x: "1" },
      `'x' must be a number, given "1"`,
    ],
    [
      { oneOf: [{ minimum: 1 }, { minimum: 2 }], type: "number" },
      3,
      "It fits more than one of the accepted shapes, given 3",
    ],
  ])("%j refuses %j", (schema, value, detail) => {
    expect(detailsOf(schema, value)).toBe(detail);
  });
});
