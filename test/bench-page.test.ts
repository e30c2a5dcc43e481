import { expect, test } from "vitest";
import { readSummary } from "./bench/support/page.ts";

test("the README's figures are those of the last run on the benchmarks' page", () => {
  const { found, expected } = readSummary();
  expect(found).toBe(expected);
});
