/** Amounts as the terminal writes them. */
import { expect, test } from "vitest";
import { elapsedOf } from "../../../plugins/tui/text/amounts.ts";

test("what has just begun shows no time, and then whole seconds", () => {
  expect([-5, 0, 999, 1000, 1999, 61_500].map(elapsedOf)).toEqual(["", "", "", " 1 s", " 1 s", " 1 min 1 s"]);
});
