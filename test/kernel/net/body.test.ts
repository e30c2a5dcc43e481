import { expect, test } from "vitest";
import { parseJson } from "../../../kernel/net/body.ts";

test.for([
  '{"a":1,"__proto__":{"b":2}}',
  '{"__proto__":{"b":2},"a":1,"__proto__":null}',
  '{"a":1,"\\u005f_proto\\u005F_":{"b":2}}',
  '{"a":1,"\\u005f\\u005f\\u0070roto__":"x"}',
])("a field named __proto__ is ignored, however it is written: %s", (text) => {
  const parsed = parseJson(text) as Record<string, unknown>;
  expect(Object.getOwnPropertyNames(parsed)).toEqual(["a"]);
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test("it is ignored at any depth; texts that mention it stay as they are", () => {
  const parsed = parseJson('[{"a":[{"__proto__":{"b":2},"text":"__proto__"}]}]');
  expect(JSON.stringify(parsed)).toBe('[{"a":[{"text":"__proto__"}]}]');
  const deep = `${"[".repeat(100_000)}{"__proto__":1}${"]".repeat(100_000)}`;
  let node = parseJson(deep);
  while (Array.isArray(node)) [node] = node;
  expect(Object.getOwnPropertyNames(node)).toEqual([]);
  expect(parseJson("null")).toBeNull();
  expect(() => parseJson('{"__proto__"')).toThrow(SyntaxError);
});
