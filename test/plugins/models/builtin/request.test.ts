import { expect, test } from "vitest";
import { createBuiltinModel } from "../../../../plugins/models/builtin/model.ts";
import type { ModelMessage, ModelPart, ModelRequest } from "../../../../plugins/models/services.ts";
import { NOW } from "../../../support/services/builtin-dialogue.ts";
import { convert, weather } from "../../../support/services/builtin-tools.ts";

async function ask(text: string, request: Partial<ModelRequest> = {}) {
  const model = createBuiltinModel({ now: () => NOW });
  const messages: readonly ModelMessage[] = [{ role: "user", text }];
  const whole = { system: "", messages, tools: [weather, convert], temperature: undefined, ...request };
  const parts: ModelPart[] = [];
  for await (const some of model.stream(whole, new AbortController().signal)) parts.push(...some);
  return {
    text: parts.map((part) => (part.type === "text" ? part.delta : "")).join(""),
    calls: parts.flatMap((part) => (part.type === "call" ? [part.call] : [])),
    finish: parts.flatMap((part) => (part.type === "finish" ? [part.reason] : [])),
  };
}

const names = ({ calls }: Awaited<ReturnType<typeof ask>>) => calls.map(({ name }) => name);

test("says why an answer ended: a call, or its own end", async () => {
  expect(await ask("weather in Berlin")).toMatchObject({ text: "", finish: ["tool_calls"] });
  expect(await ask("hello")).toMatchObject({ calls: [], finish: ["stop"] });
});

test("calls none, any or only some of the tools, as chosen", async () => {
  expect(names(await ask("weather in Berlin", { toolChoice: "none" }))).toEqual([]);
  expect(names(await ask("hello", { toolChoice: "required" }))).toEqual([convert.name]);
  expect(names(await ask("weather in Berlin", { toolChoice: "required" }))).toEqual([weather.name]);
  const only = (mode: "auto" | "required") => ({ toolChoice: { mode, names: [weather.name] } });
  expect(names(await ask("convert 3 USD to EUR", only("auto")))).toEqual([]);
  const { calls } = await ask("convert 3 USD to EUR", only("required"));
  expect(calls).toMatchObject([{ name: weather.name }]);
  expect(JSON.parse(calls[0]?.params ?? "")).toBeTypeOf("object");
});

test("stops ahead of a stop text, and where its tokens are used up", async () => {
  const said = "echo: one two three four five six seven eight";
  expect(await ask(said, { generation: { stop: ["four", "three"] } })).toMatchObject({
    text: "one two ",
    finish: ["stop"],
  });
  const cut = await ask(said, { generation: { maxOutputTokens: 2 } });
  expect(cut).toMatchObject({ text: "one two ", finish: ["length"] });
  expect(await ask("echo: äöü", { generation: { maxOutputTokens: 1 } })).toMatchObject({ text: "äö" });
});

const schema = (properties: object) =>
  ({
    type: "json_schema",
    name: "place",
    schema: { type: "object", properties, required: Object.keys(properties) },
    strict: true,
  }) as const;

test("fills a format from what was said, and says so where it cannot", async () => {
  expect(JSON.parse((await ask("hello", { format: { type: "json_object" } })).text)).toMatchObject({
    answer: expect.stringContaining("Hello"),
  });
  const time = await ask("what time is it?", { format: schema({ answer: { type: "string" } }) });
  expect(JSON.parse(time.text)).toEqual({ answer: expect.stringContaining("09:30") });
  const place = schema({ city: { type: "string" }, people: { type: "integer" } });
  const { text } = await ask("a table in Oslo for 4 people", { tools: [], format: place });
  expect(JSON.parse(text)).toEqual({ city: "Oslo", people: 4 });
  const lost = await ask("hello", { format: schema({ a: { type: "object" }, b: { type: "array" } }) });
  expect(lost.text).toContain("nothing for a, b");
});
