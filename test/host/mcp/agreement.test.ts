import { expect, test } from "vitest";
import { afterAgreeing, afterListing } from "../../../host/mcp/tools/agreement.ts";
import { readDefinitions } from "../../../host/mcp/tools/definition.ts";
import type { StoredTool } from "../../../host/mcp/tools/rows.ts";

const listing = (names: readonly string[], title = "") =>
  readDefinitions(names.map((name) => ({ name, inputSchema: { type: "object", title } })));

test("a server that shows each user other tools fills no more than a list, and keeps what was agreed to", () => {
  const options = { isWhole: false, isTaken: () => false };
  const read = (tools: readonly StoredTool[], names: readonly string[], title?: string) =>
    afterListing({ name: "srv", tools }, listing(names, title), options);
  const agreed = afterAgreeing(read([], ["mine"]), () => true, false);
  const rounds = Array.from({ length: 20 }, (_, round) =>
    Array.from({ length: 200 }, (__, at) => `tool-${round}-${at}`),
  );
  const tools = rounds.reduce((kept, names) => read(kept, names), agreed);
  expect(tools).toHaveLength(256);
  expect(tools[0]).toMatchObject({ tool: "mine", agreed: expect.anything() });
  expect(tools.at(-1)?.tool).toBe("tool-19-199");
  const large = rounds
    .slice(0, 6)
    .reduce((kept, names) => read(kept, names.slice(0, 16), "x".repeat(60_000)), agreed);
  expect(JSON.stringify(large).length).toBeLessThan(5 * 2 ** 20);
  expect(large[0]?.tool).toBe("mine");
});
