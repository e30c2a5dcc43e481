import { expect, test } from "vitest";
import { afterAgreeing, afterListing, showTool } from "../../../host/mcp/tools/agreement.ts";
import { readDefinitions } from "../../../host/mcp/tools/definition.ts";
import type { StoredTool } from "../../../host/mcp/tools/rows.ts";
import { parseServerFile } from "../../../host/mcp/tools/server-file.ts";

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

/** What the operator is shown of a tool after its server described it in these ways, one after the other. */
function differences(before: string | undefined, after: string, schema: object = {}): readonly string[] {
  const fileText = '{"url":"https://far.example/mcp"}';
  const server = { name: "srv", id: "1", addedAt: "", fileText, file: parseServerFile(fileText), tools: [] };
  const read = (tools: readonly StoredTool[], description: string, more: object = {}) => {
    const inputSchema = { type: "object", ...more };
    const listed = readDefinitions([{ name: "tool", description, inputSchema }]);
    return afterListing({ name: "srv", tools }, listed, { isWhole: true, isTaken: () => false });
  };
  const known = before === undefined ? [] : afterAgreeing(read([], before), () => true, false);
  const [tool] = read(known, after, schema);
  return (tool && showTool(server, tool)?.change?.differences) ?? [];
}

test("what was removed and what is new in a tool is shown line by line, and nothing where nothing changed", () => {
  expect(differences("a\nb\nc", "a\nX\nc")).toEqual(["-   b", "+   X"]);
  expect(differences("a\nb\nc", "a\nc")).toEqual(["-   b"]);
  expect(differences("a", "a")).toEqual([]);
  expect(differences(undefined, "a").slice(0, 2)).toEqual(["+ description:", "+   a"]);
  const beyond = "x".repeat(5000);
  expect(differences(beyond, `${beyond}y`)).toEqual([expect.stringContaining("beyond the part")]);
});

test("of two long texts without a common line only the first lines are shown", () => {
  const properties = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`p${at}`, true]));
  const lines = differences("a", "b", { properties });
  expect(lines).toHaveLength(401);
  expect(lines.at(-1)).toMatch(/^\d+ more lines$/);
});
