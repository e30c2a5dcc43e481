/** The OpenAPI document with the Responses routes in it. */

import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import { eventsOf, type Service, startService } from "../../support/services/responses.ts";

interface Operation {
  readonly security?: readonly unknown[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

async function documentOf(service: Service): Promise<Document> {
  return (await (await service.send("GET", "/api/openapi.json")).json()) as Document;
}

const STRICT = ["/api/v1", "/v1"];
const OPEN = "/openai/v1";
const PREFIXES = [...STRICT, OPEN];

const SEARCH = { type: "function", name: "search", parameters: { type: "object", properties: {} } };

test("everything in the OpenAPI document answers", async () => {
  const service = await startService();
  const described = Object.entries((await documentOf(service)).paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, { security }]) => ({
      verb: verb.toUpperCase(),
      path,
      isOpen: security?.length === 0,
    })),
  );
  for (const { verb, path } of described.filter(({ isOpen }) => !isOpen)) {
    const { headers } = await service.send("OPTIONS", path.replaceAll(/\{\w+\}/g, "x"));
    expect(headers.get("allow")?.split(", "), `${verb} ${path}`).toContain(verb);
  }
  for (const { verb, path } of described.filter(({ isOpen }) => isOpen))
    expect((await fetch(service.url + path, { method: verb })).status, `${verb} ${path}`).not.toBe(404);
});

test("the document lists create, retrieve, delete, cancel, input items and models under every prefix", async () => {
  const { paths } = await documentOf(await startService());
  const listedUnder = (prefix: string) =>
    Object.entries(paths)
      .filter(([path]) => path.startsWith(`${prefix}/`))
      .flatMap(([path, verbs]) => Object.keys(verbs).map((verb) => `${verb} ${path.slice(prefix.length)}`))
      .toSorted();
  const specified = [
    "delete /responses/{id}",
    "get /models",
    "get /responses/{id}",
    "get /responses/{id}/input_items",
    "post /responses",
    "post /responses/{id}/cancel",
  ];
  for (const prefix of STRICT) expect(listedUnder(prefix)).toEqual(specified);
  expect(listedUnder(OPEN)).toEqual(expect.arrayContaining(specified));
});

test("the document holds nothing but JSON Schema, and every reference in it leads somewhere", async () => {
  const document = await documentOf(await startService());
  const ajv = new Ajv2020({ strictTypes: false, allowUnionTypes: true, formats: { binary: true } });
  formats.default(ajv);
  const { schemas } = document.components;
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(["Turn", "Job", "Response", "CreateResponse"]));
  const definitions = (text: string) => text.replaceAll("#/components/schemas/", "#/$defs/");
  const $defs = JSON.parse(definitions(JSON.stringify(schemas)));
  for (const name of Object.keys(schemas))
    expect(() => ajv.compile({ $defs, $ref: `#/$defs/${name}` }), name).not.toThrow();
  for (const [, reference = ""] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g))
    expect(schemas).toHaveProperty(reference);
});

test.each(PREFIXES)("what %s really answers fits its schemas", async (prefix) => {
  const model = await scriptedModel();
  model.otherwise(({ messages }) =>
    JSON.stringify(messages.at(-1)).includes("search it")
      ? { calls: [{ name: "search", arguments: { q: "x" } }] }
      : { text: "Hello there" },
  );
  const service = await startService({ model });
  const post = (body: object) => service.send("POST", `${prefix}/responses`, { model: "any", ...body });

  const metadata = { ticket: prefix === OPEN ? "camelCase" : { camelCase: 1 } };
  const created = await (await post({ input: "Hi", metadata })).json();
  expect(created).toMatchObject({ status: "completed", metadata });
  const waiting = await (await post({ input: "search it", tools: [SEARCH] })).json();
  expect(waiting).toMatchObject({ output: [{ type: "function_call", name: "search" }] });

  const streamed = [
    await eventsOf(await post({ input: "Hi", stream: true })),
    await eventsOf(await post({ input: "search it", tools: [SEARCH], stream: true })),
  ].flat();
  const name = prefix === OPEN ? "OpenResponseEvent" : "ResponseEvent";
  for (const event of streamed) service.checks.event(event, name);
  expect(new Set(streamed.map(({ type }) => type)).size).toBeGreaterThanOrEqual(11);
  expect(() => service.checks.event({ ...streamed[0], sequence_number: "1" }, name)).toThrow("does not fit");

  for (const [method, path, status] of [
    ["GET", "/models", 200],
    ["GET", `/responses/${created.id}`, 200],
    ["GET", `/responses/${created.id}/input_items?order=asc`, 200],
    ["GET", `/responses/${created.id}/input_items?limit=0`, 400],
    ["POST", `/responses/${waiting.id}/cancel`, 200],
    ["DELETE", `/responses/${created.id}`, 200],
    ["GET", `/responses/${created.id}`, 404],
  ] as const)
    expect([method, path, (await service.send(method, prefix + path)).status]).toEqual([
      method,
      path,
      status,
    ]);
});
