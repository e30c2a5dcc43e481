import { expect, test } from "vitest";
import { fieldsOf, mistakeInReplies, refuseQuestions } from "../../../kernel/vocabulary/questions.ts";

const schema = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
});

test("every kind of field that the protocol knows is read, choices in all three of its ways", () => {
  const fields = fieldsOf(
    schema(
      {
        name: {
          type: "string",
          title: "Name",
          description: "Yours",
          minLength: 2,
          maxLength: 9,
          default: "Ann",
        },
        mail: { type: "string", format: "email", pattern: "^(a+)+$" },
        age: { type: "integer", minimum: 1, maximum: 120, default: "old" },
        yes: { type: "boolean", default: true },
        one: { type: "string", enum: ["a", "b"], enumNames: ["Ay"] },
        two: { type: "string", oneOf: [{ const: "a", title: "Ay" }] },
        some: { type: "array", minItems: 1, items: { anyOf: [{ const: "a", title: "Ay" }] }, default: ["a"] },
      },
      ["name"],
    ),
  );
  expect(fields).toEqual([
    {
      name: "name",
      label: "Name",
      about: "Yours",
      isRequired: true,
      kind: "text",
      least: 2,
      most: 9,
      preset: "Ann",
    },
    { name: "mail", label: "mail", isRequired: false, kind: "text", format: "email" },
    // A default that does not fit is none.
    { name: "age", label: "age", isRequired: false, kind: "integer", least: 1, most: 120 },
    { name: "yes", label: "yes", isRequired: false, kind: "boolean", preset: true },
    {
      name: "one",
      label: "one",
      isRequired: false,
      kind: "choice",
      choices: [
        { value: "a", label: "Ay" },
        { value: "b", label: "b" },
      ],
    },
    { name: "two", label: "two", isRequired: false, kind: "choice", choices: [{ value: "a", label: "Ay" }] },
    {
      name: "some",
      label: "some",
      isRequired: false,
      kind: "choices",
      choices: [{ value: "a", label: "Ay" }],
      least: 1,
      preset: ["a"],
    },
  ]);
});

test.each([
  ["an object in it", { a: { type: "object" } }],
  ["a list of anything", { a: { type: "array", items: { type: "string" } } }],
  ["no type", { a: {} }],
  ["what is no schema", { a: true }],
  ["choices that are no texts", { a: { type: "array", items: { enum: [1, 2] } } }],
  [
    "more fields than a person fills in",
    Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`f${n}`, { type: "string" }])),
  ],
])("a form with %s is none", (_what, properties) => {
  expect(fieldsOf(schema(properties))).toBeUndefined();
  expect(refuseQuestions([{ key: "0", message: "?", schema: schema(properties) }])).toMatch(/asks for more/);
});

test.each([
  ["email", "ann@example.com", "ann"],
  ["uri", "https://example.com/a", "example"],
  ["date", "2026-01-31", "31.1.2026"],
  ["date-time", "2026-01-31T09:30:00Z", "yesterday"],
])("a text of format %s is held to it", (format, good, bad) => {
  const question = { key: "0", message: "?", schema: schema({ a: { type: "string", format } }) };
  const wrong = (a: string) => mistakeInReplies([question], [{ key: "0", action: "accept", content: { a } }]);
  expect(wrong(good)).toBeUndefined();
  expect(wrong(bad)).toMatchObject({ code: "invalid_reply", param: "replies[0].content.a" });
});

test("names that every object has are fields like any other, and none of them is there by itself", () => {
  const question = { key: "0", message: "?", schema: schema({ toString: { type: "string" } }, ["toString"]) };
  const reply = (content: Record<string, unknown>) =>
    mistakeInReplies([question], [{ key: "0", action: "accept", content }]);
  expect(reply({})).toMatchObject({ message: '"toString" is required.' });
  expect(reply({ toString: "x" })).toBeUndefined();
  expect(reply(JSON.parse('{"toString": "x", "__proto__": "y"}'))).toMatchObject({ code: "invalid_reply" });
});

test("a page to visit must be a web page, and is accepted without content", () => {
  const visit = (url: string) => ({ key: "0", message: "?", url });
  expect(refuseQuestions([visit("https://example.com/")])).toBeUndefined();
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "nowhere"])
    expect(refuseQuestions([visit(url)])).toMatch(/no web page/);
  const questions = [visit("https://example.com/")];
  expect(mistakeInReplies(questions, [{ key: "0", action: "accept" }])).toBeUndefined();
  expect(mistakeInReplies(questions, [{ key: "0", action: "accept", content: {} }])).toBeDefined();
});
