/** The broker judges a request as its description does. */
import assert from "node:assert/strict";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { defineTarget } from "../target.ts";
import type { PolicyCase } from "./case.ts";
import { policyCases } from "./cases.ts";
import { createJudge } from "./judged.ts";
import { createModel } from "./model.ts";

export const policy = defineTarget<PolicyCase>({
  name: "policy",
  runs: 10_000,
  cases: policyCases,
  async open() {
    const store = openStore(":memory:");
    const judge = createJudge(store);
    return {
      check: async (input) => {
        const actual = await judge(input);
        assert.deepEqual(actual, input.asked.map(createModel(input.file, input.world)));
      },
      close: store.close,
    };
  },
});
