/** The ruling asks about the values that its description says it asks about. */
import assert from "node:assert/strict";
import { hear } from "../../../plugins/provenance/person/utterances.ts";
import { judge } from "../../../plugins/provenance/ruling.ts";
import { defineTarget } from "../target.ts";
import { type ProvenanceCase, TOOLS } from "./case.ts";
import { provenanceCases } from "./cases.ts";
import { doubted } from "./model.ts";

const TODAY = new Date(2026, 10, 17);

export const provenance = defineTarget<ProvenanceCase>({
  name: "provenance",
  runs: 5_000,
  cases: provenanceCases,
  open: async () => ({
    check: async (input) => assert.deepEqual(ruled(input), doubted(input)),
    close: async () => {},
  }),
});

/** Roles are left to the names of the params, as with most tools. */
function ruled({ person, heard, call }: ProvenanceCase): readonly string[] {
  const { writes = false, isOutside = false, params = {} } = TOOLS[call.tool] ?? {};
  const properties = Object.fromEntries(Object.keys(params).map((name) => [name, {}]));
  const answers = heard.map(({ output, ...one }) => ({
    ...one,
    text: typeof output === "string" ? output : JSON.stringify(output),
  }));
  const doubts = judge(
    {
      name: call.tool,
      owner: call.owner,
      params: call.params,
      schema: { type: "object", properties },
      writes,
      isOutside,
    },
    hear(person, [], TODAY),
    answers,
  );
  return [...new Set(doubts.map(({ name }) => name))].sort();
}
