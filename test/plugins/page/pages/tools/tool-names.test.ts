import { expect, test } from "vitest";
import { iconOf, plainName } from "../../../../../plugins/page/pages/tools/tool-names.ts";

test("a tool of any name has a plain name and an icon", () => {
  expect(plainName("web-search")).toBe("Web search");
  for (const [name, plain] of [
    ["my-tool", "My tool"],
    ["constructor", "Constructor"],
    ["toString", "ToString"],
    ["__proto__", "  proto  "],
  ] as const) {
    expect(plainName(name)).toBe(plain);
    expect(iconOf(name)).toEqual(iconOf("my-tool"));
  }
});
