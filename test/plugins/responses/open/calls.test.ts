/** Calls of the caller's tools in the open dialect. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { type Service, startService, textOf } from "../../../support/services/responses.ts";

const find = { type: "function", name: "find", parameters: { type: "object" } };
const output = (call_id: string, said: unknown = "found") => ({
  type: "function_call_output",
  call_id,
  output: said,
});

const post = (service: Service, body: object) =>
  service.send("POST", "/openai/v1/responses", { model: "any", ...body });

async function waiting() {
  const model = await scriptedModel();
  model.script({
    calls: [
      { id: "a", name: "find", arguments: { n: 1 } },
      { id: "b", name: "find", arguments: { n: 2 } },
    ],
  });
  const service = await startService({ model });
  const response = await (await post(service, { input: "Find both", tools: [find] })).json();
  expect(response.output.map(({ call_id }: { call_id: string }) => call_id)).toEqual(["a", "b"]);
  return { model, service, id: response.id as string };
}

test("several calls are answered together, and a message may come with the answers", async () => {
  const { model, service, id } = await waiting();
  model.script({ text: "Both found." });
  const input = [output("b"), output("a"), { role: "user", content: "In short, please" }];
  const answer = await post(service, { previous_response_id: id, input, tools: [find] });
  expect(textOf(await answer.json())).toBe("Both found.");
  const sent = model.requests.at(-1)?.messages ?? [];
  expect(sent.filter(({ role }) => role === "tool")).toHaveLength(2);
  expect(sent.at(-1)).toMatchObject({ role: "user", content: "In short, please" });
});

test.each([
  ["one of them", [output("a")], "input"],
  ["a message alone", "Well?", "input"],
  ["an answer to another call", [output("a"), output("b"), output("c")], "input[2].call_id"],
])("%s is 400 while calls wait, and they still wait afterwards", async (_title, input, param) => {
  const { model, service, id } = await waiting();
  const refused = await post(service, { previous_response_id: id, input });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { param } });
  model.script({ text: "Both found." });
  const answer = await post(service, { previous_response_id: id, input: [output("a"), output("b")] });
  expect(textOf(await answer.json())).toBe("Both found.");
});

test("calls that were answered can be answered differently from there, as a branch", async () => {
  const { model, service, id } = await waiting();
  for (const said of ["eleven", "twelve"]) {
    model.script({ text: `Got ${said}.` });
    const input = [output("a", said), output("b", said)];
    const answer = await post(service, { previous_response_id: id, input, tools: [find] });
    expect(textOf(await answer.json())).toBe(`Got ${said}.`);
  }
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain("eleven");
});

test("a custom tool of a namespace is called with its text and answered under its own name, also in a replay", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ id: "c", name: "edit__patch", arguments: { input: "*** Begin" } }] });
  const service = await startService({ model });
  const patch = { type: "custom", name: "patch", description: "Patches files" };
  const tools = [{ type: "namespace", name: "edit", description: "Editing", tools: [patch] }];
  const asked = { role: "user", content: "Patch it" };
  const first = await (await post(service, { input: [asked], tools })).json();
  const [call] = first.output;
  expect(call).toMatchObject({
    type: "custom_tool_call",
    call_id: "c",
    name: "patch",
    namespace: "edit",
    input: "*** Begin",
  });
  model.script({ text: "Patched." });
  const answer = {
    type: "custom_tool_call_output",
    call_id: "c",
    output: [{ type: "input_text", text: "ok" }],
  };
  const second = await (await post(service, { input: [asked, call, answer], tools })).json();
  expect(textOf(second)).toBe("Patched.");
  expect(second.id.slice(-32)).toBe(first.id.slice(-32));
  const listed = await (
    await service.send("GET", `/openai/v1/responses/${second.id}/input_items?order=asc`)
  ).json();
  expect(listed.data).toMatchObject([
    { role: "user" },
    { type: "custom_tool_call", input: "*** Begin" },
    { call_id: "c" },
  ]);
});

test("instructions of one request, and what the system says first, are shown to the model and not kept", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const input = [
    { role: "developer", content: "Rhyme." },
    { role: "user", content: "Hi" },
  ];
  const first = await (await post(service, { input, instructions: "Be brief." })).json();
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/Be brief\..*Rhyme\..*Hi/s);
  await post(service, { input: "More", previous_response_id: first.id });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toMatch(/Be brief|Rhyme/);
});
