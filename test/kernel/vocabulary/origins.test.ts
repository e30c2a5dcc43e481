import { expect, test } from "vitest";
import { distinctOrigins, type Origin } from "../../../kernel/kit/turns.ts";

test("of more origins than are kept, one that nobody can trust stands for the rest", () => {
  const tools = Array.from({ length: 8 }, (_, at): Origin => ({ kind: "tool", name: `tool-${at}` }));
  expect(distinctOrigins([...tools, ...tools])).toEqual(tools);
  const cut = distinctOrigins([...tools, { kind: "page", name: "https://evil.example/" }]);
  expect(cut).toHaveLength(8);
  expect(cut.at(-1)).toEqual({ kind: "outside", name: "others" });
  // Also after what was cut is joined with more.
  expect(distinctOrigins([...cut, ...tools]).at(-1)).toEqual({ kind: "outside", name: "others" });
});
