import { expect, test } from "vitest";
import { dollars } from "../../../kernel/kit/words.ts";

test.each([
  [0, "$0.00"],
  [0.001, "$0.001"],
  [0.015, "$0.015"],
  [0.1 + 0.2, "$0.30"],
  [0.000_02, "$0.00002"],
  [1.5, "$1.50"],
  [12.345, "$12.35"],
])("%d dollars are shown as %s", (usd, shown) => {
  expect(dollars(usd)).toBe(shown);
});
