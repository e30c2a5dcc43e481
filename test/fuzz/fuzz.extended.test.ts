import { inspect } from "node:util";
import { expect, test } from "vitest";
import { TARGETS } from "./targets.ts";

// The same inputs each time: a run that looks for new ones is `npm run fuzz`.
const SEED = 43;

// For what hangs, not for what is slow.
const timeout = 1_200_000;

test.each(TARGETS)(
  "$name: what was found before holds, and so do new inputs",
  { timeout },
  async (target) => {
    const found = await target.fuzz(target.runs, SEED);
    expect(found, inspect(found?.error)).toBeUndefined();
  },
);
