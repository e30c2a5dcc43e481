import { expect, test } from "vitest";
import { createJsonCheck } from "../../../host/sandbox/json-check.ts";
import { createPool } from "../../../host/sandbox/pool.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import { afterThisTest } from "../../support/undo.ts";

const PERSON: JsonSchema = {
  $schema: "http://json-schema.org/draft-04/schema#",
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 } },
  required: ["name", "age"],
  additionalProperties: false,
};

function open() {
  const pool = createPool({ size: 1 });
  afterThisTest(() => pool.close());
  const checkJson = createJsonCheck(pool);
  const { signal } = new AbortController();
  return (schema: JsonSchema, value: unknown) => checkJson(schema, value, { signal });
}

const refused = (words: RegExp) =>
  expect.objectContaining({
    kind: "invalid",
    code: "invalid_json_schema",
    message: expect.stringMatching(words),
  });

test("a value is checked against a stranger's schema in a process of its own, and mistakes come in words", async () => {
  const check = open();
  expect(await check(PERSON, { name: "Ann", age: 41 })).toEqual([]);
  const mistakes = await check(PERSON, { age: -1, extra: true });
  expect(mistakes).toEqual(
    expect.arrayContaining([expect.stringContaining("'name'"), expect.stringContaining("'age'")]),
  );
  expect(await check(PERSON, [1])).toEqual([expect.stringContaining("the answer")]);
  expect(await check({}, "x".repeat(2 << 20))).toEqual([expect.stringContaining("longer than")]);
});

test("a schema that cannot be used, or takes too long, ends there with words, and others go on", async () => {
  const check = open();
  await expect(check({ type: "wrong" }, 1)).rejects.toThrow(refused(/type/));
  await expect(check({ $ref: "http://example.test/other" }, 1)).rejects.toThrow(refused(/other/));
  await expect(check({ description: "x".repeat(300_000) }, 1)).rejects.toThrow(refused(/longer than/));
  const slow = check({ pattern: "^(a+)+$" }, `${"a".repeat(40)}!`);
  await expect(slow).rejects.toThrow(refused(/longer than \d+ ms/));
  const level = (at: number): JsonSchema => ({
    allOf: [{ $ref: `#/$defs/l${at}` }, { $ref: `#/$defs/l${at}` }],
  });
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`l${at}`, at < 39 ? level(at + 1) : {}]),
  );
  await expect(check({ $defs, ...level(0) }, { a: 1 })).rejects.toThrow(refused(/longer than \d+ ms/));
  expect(await check(PERSON, { name: "Ann", age: 41 })).toEqual([]);
});

test("more schemas than a process keeps are checked all the same", async () => {
  const check = open();
  for (let at = 0; at < 70; at++) expect(await check({ const: at }, at)).toEqual([]);
  expect(await check({ const: 1 }, 2)).toHaveLength(1);
});

test.each(["timeout", "worker_lost", "unavailable"] as const)(
  "a check that ends with %s because of others can be tried again",
  async (code) => {
    const validate = async () => ({ ok: false, code, message: "" }) as const;
    const check = createJsonCheck({ validate, forget: () => {} });
    await expect(check(PERSON, {}, new AbortController())).rejects.toMatchObject({
      kind: "unavailable",
      code: "schema_check_unavailable",
    });
  },
);
