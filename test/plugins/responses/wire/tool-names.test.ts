import { expect, test } from "vitest";
import type { WireTool } from "../../../../plugins/responses/wire/format.ts";
import {
  calledTool,
  customInput,
  customParams,
  offeredName,
  offerTools,
} from "../../../../plugins/responses/wire/tool-names.ts";

const named = (name: string) =>
  ({ type: "function", name, description: null, parameters: null, strict: null }) as const;

const TOOLS: readonly WireTool[] = [
  named("crm__find"),
  { type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } },
  { type: "namespace", name: "crm", description: "", tools: [named("find"), named("list")] },
  { type: "namespace", name: "wörld", description: "", tools: [named("x".repeat(64))] },
];

test("every tool has one name of at most 64 letters for the model, and the way back from it is known", () => {
  const offered = offerTools(TOOLS);
  const names = offered.map(({ offer }) => offer.name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(names).toEqual(expect.arrayContaining(["crm__find", "patch", "crm__list"]));
  for (const { offer, tool } of offered) {
    expect(calledTool(TOOLS, offer.name)).toEqual(tool);
    expect(offeredName(TOOLS, tool)).toBe(offer.name);
  }
  expect(calledTool(TOOLS, "crm__find")).toEqual({ type: "function", name: "crm__find" });
  expect(calledTool(TOOLS, "crm__list")).toEqual({ type: "function", name: "list", namespace: "crm" });
  expect(calledTool(TOOLS, "unheard_of")).toEqual({ type: "function", name: "unheard_of" });
});

test("the same tools have the same names in every request", () => {
  expect(offerTools(TOOLS)).toEqual(offerTools(structuredClone(TOOLS)));
});

test("a grammar whose syntax is no text is shown without it", () => {
  const format = { type: "grammar", syntax: { toString: 1 }, definition: "start: x" };
  const [offered] = offerTools([{ type: "custom", name: "patch", format }]);
  expect(offered?.offer.description).toBe("The input must match this grammar:\nstart: x");
});

test("the largest catalog is read once, however often its tools are named", () => {
  const tools = Array.from({ length: 6000 }, (_, index) => named(`f${index}`));
  const namespace = {
    ...{ type: "namespace", name: "a.b", description: "" },
    get tools() {
      reads++;
      return tools;
    },
  };
  const catalog = [namespace] as unknown as readonly WireTool[];
  let reads = 0;
  for (const { name } of tools) offeredName(catalog, { name, namespace: "a.b" });
  expect(reads).toBeLessThan(10);
});

test("a custom tool is a function with one text, and the model reads its grammar", () => {
  const patch = offerTools(TOOLS).find(({ tool }) => tool.type === "custom");
  expect(patch?.offer.parameters).toMatchObject({ required: ["input"] });
  expect(patch?.offer.description).toContain("start: x");
  expect(customInput(customParams("*** Begin"))).toBe("*** Begin");
  for (const odd of ["not JSON", "null", "[]", '{"input":1}']) expect(customInput(odd)).toBe(odd);
});
