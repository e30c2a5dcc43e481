import { expect, test } from "vitest";
import { refuseHeaders } from "../../../host/mcp/tools/definition.ts";

const of = (properties: object) => ({ type: "object", properties });
const region = { type: "string", "x-mcp-header": "Region" };

test("a param may be wanted in a header, at any depth of properties, and a property may have that name", () => {
  expect(
    refuseHeaders(of({ region, place: of({ zone: { type: "integer", "x-mcp-header": "Zone" } }) })),
  ).toBeUndefined();
  expect(refuseHeaders(of({ "x-mcp-header": { type: "string" } }))).toBeUndefined();
});

test.each([
  ["at the top", { type: "object", "x-mcp-header": "Region" }],
  ["in a list's items", of({ regions: { type: "array", items: region } })],
  ["in one of several", { type: "object", oneOf: [of({ region })] }],
  ["in a definition", { type: "object", $defs: { region } }],
  ["with a space in it", of({ region: { ...region, "x-mcp-header": "My Region" } })],
  ["empty", of({ region: { ...region, "x-mcp-header": "" } })],
  ["that is no text", of({ region: { ...region, "x-mcp-header": 1 } })],
  ["for an object", of({ region: { type: "object", "x-mcp-header": "Region" } })],
  ["twice, in other letters", of({ region, other: { type: "string", "x-mcp-header": "REGION" } })],
])("a tool that names a header %s is left out", (_, schema) => {
  expect(refuseHeaders(schema)).toMatch(/header/);
});
