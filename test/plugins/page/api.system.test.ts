import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { typesOf } from "../../../plugins/page/generate.ts";
import { ROOT } from "../../support/clone.ts";
import { servePostern } from "../../support/processes/served.ts";

test("the page's types are those of the document that the service answers", async () => {
  const { url, link } = await servePostern();
  const token = new URL(link()).searchParams.get("token");
  const answer = await fetch(`${url}/api/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
  const written = readFileSync(join(ROOT, "plugins/page/api.ts"), "utf8");
  expect(typesOf(await answer.json()), "run node plugins/page/generate.ts <url> <token>").toBe(written);
});

test("schemas become types that say the same", () => {
  const schemas = {
    SocketFrame: { oneOf: [{ $ref: "#/components/schemas/Pet" }, { const: "bye" }] },
    Pet: {
      type: "object",
      required: ["name", "tags"],
      properties: {
        name: { type: ["string", "null"] },
        tags: { type: "array", items: { enum: ["cat", 1] } },
        owner: { type: ["object", "null"], properties: { id: { type: "integer" } } },
        extra: { type: "object", additionalProperties: { type: "boolean" } },
        any: {},
        free: { type: "object" },
      },
    },
    Unused: { type: "string" },
  };
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } };
  const paths = {
    "/api/pets": { put: { requestBody: { content }, responses: { 201: { content }, 400: {} } } },
    "/api/none": { get: { responses: { 204: {} } } },
    "/v1/foreign": { get: { responses: { 200: { content } } } },
  };
  expect(typesOf({ paths, components: { schemas } }).split("\n").slice(3)).toEqual([
    "export interface Routes {",
    '  readonly "PUT /api/pets": { readonly body: Pet; readonly answer: Pet };',
    "}",
    "",
    "export type Pet = {",
    "  readonly name: string | null;",
    '  readonly tags: readonly ("cat" | 1)[];',
    "  readonly owner?: { readonly id?: number } | null;",
    "  readonly extra?: Readonly<Record<string, boolean>>;",
    "  readonly any?: unknown;",
    "  readonly free?: Readonly<Record<string, unknown>>;",
    "};",
    'export type SocketFrame = Pet | "bye";',
    "",
  ]);
});
