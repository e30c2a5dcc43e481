import { expect, test } from "vitest";
import type { ResponseObject } from "../../../../plugins/responses/wire/format.ts";
import { parseResponseId } from "../../../../plugins/responses/wire/id.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { eventsOf, type Service, startService, textOf } from "../../../support/services/responses.ts";

const PATH = "/openai/v1/responses";

async function begin(service: Service, body: object): Promise<ResponseObject> {
  const answer = await service.send("POST", PATH, { model: "m", background: true, ...body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as ResponseObject;
}

const get = async (service: Service, id: string): Promise<ResponseObject> =>
  (await (await service.send("GET", `${PATH}/${id}`)).json()) as ResponseObject;

const jobOf = (id: string) => parseResponseId(id)?.turn ?? "";

const begunToSpeak = (service: Service, id: string) =>
  expect.poll(async () => (await get(service, id)).output).not.toEqual([]);

async function finished(service: Service, id: string): Promise<ResponseObject> {
  await expect.poll(async () => (await get(service, id)).status).not.toMatch(/queued|in_progress/);
  return await get(service, id);
}

test("a background response is answered at once and polled until it has completed", async () => {
  const model = await scriptedModel();
  const more = Promise.withResolvers<string>();
  model.script({ text: ["Well,", more.promise] });
  const service = await startService({ model });
  const begun = await begin(service, { input: "Think" });
  // It may have begun by then.
  expect(begun).toMatchObject({
    status: expect.stringMatching(/^(queued|in_progress)$/),
    background: true,
    model: "m",
  });
  await begunToSpeak(service, begun.id);
  expect(await get(service, begun.id)).toMatchObject({ id: begun.id, status: "in_progress" });
  more.resolve(" so.");
  const done = await finished(service, begun.id);
  expect(done).toMatchObject({ id: begun.id, status: "completed", background: true });
  expect(textOf(done)).toBe("Well, so.");
});

test("it stays when a response that goes on from it is deleted, and its words go with it", async () => {
  const model = await scriptedModel();
  model.script({ text: "A first answer" }, { text: "A second answer" });
  const service = await startService({ model });
  const { id } = await finished(service, (await begin(service, { input: "First" })).id);
  const next = await service.send("POST", PATH, { model: "m", input: "Second", previous_response_id: id });
  expect(next.status).toBe(200);
  await service.send("DELETE", `${PATH}/${((await next.json()) as ResponseObject).id}`);
  expect(textOf(await get(service, id))).toBe("A first answer");
  expect((await service.send("DELETE", `${PATH}/${id}`)).status).toBe(200);
  expect((await service.kernel.service("threads").list("operator")).items).toEqual([]);
  expect(await service.kernel.service("jobs").find(jobOf(id))).toBeUndefined();
});

test("it is streamed while it runs and told again later, under the same numbers", async () => {
  const model = await scriptedModel();
  model.script({ text: ["One", " two"] });
  const service = await startService({ model });
  const told = await eventsOf(
    await service.send("POST", PATH, { model: "m", background: true, stream: true, input: "Count" }),
  );
  expect(told.slice(0, 3).map(({ type }) => type)).toEqual([
    "response.created",
    "response.queued",
    "response.in_progress",
  ]);
  expect(told.at(-1)).toMatchObject({ type: "response.completed" });
  const { id } = (told[0] as unknown as { response: ResponseObject }).response;
  const again = await eventsOf(await service.send("GET", `${PATH}/${id}?stream=true&starting_after=1`));
  expect(again).toEqual(told.slice(2));
});

test("one that runs and one that waits are cancelled, and stay so", async () => {
  const model = await scriptedModel();
  model.script({ text: "Well,", end: "stall" }, { text: "never" });
  const service = await startService({ model, variables: { JOBS_CONCURRENCY: "1" } });
  const running = await begin(service, { input: "First" });
  await begunToSpeak(service, running.id);
  const waiting = await begin(service, { input: "Second" });
  for (const { id } of [waiting, running]) {
    const answer = await service.send("POST", `${PATH}/${id}/cancel`);
    expect(await answer.json()).toMatchObject({ id, status: "cancelled" });
    expect(await get(service, id)).toMatchObject({ id, status: "cancelled" });
  }
});

test("another request goes on from it when it has finished, and not before", async () => {
  const model = await scriptedModel();
  const more = Promise.withResolvers<string>();
  model.script({ text: ["The code", more.promise] }, { text: "It is 4711." });
  const service = await startService({ model });
  const { id } = await begin(service, { input: "Find the code" });
  await begunToSpeak(service, id);
  const body = { model: "m", input: "Which is it?", previous_response_id: id };
  const early = await service.send("POST", PATH, body);
  expect(early.status).toBe(400);
  expect(await early.json()).toMatchObject({ error: { code: "previous_response_not_finished" } });
  more.resolve(" is 4711.");
  await finished(service, id);
  const next = (await (await service.send("POST", PATH, body)).json()) as ResponseObject;
  expect(textOf(next)).toBe("It is 4711.");
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("The code is 4711.");
});

test("calls of the caller's functions end it, and their outputs go on from it", async () => {
  const model = await scriptedModel();
  model.script(
    {
      calls: [
        { id: "c1", name: "find", arguments: { n: 1 } },
        { id: "c2", name: "find", arguments: { n: 2 } },
      ],
    },
    { text: "Both found." },
  );
  const service = await startService({ model });
  const tools = [{ type: "function", name: "find", parameters: { type: "object" } }];
  const { id } = await begin(service, { input: "Find them", tools });
  const asked = await finished(service, id);
  expect(asked.output).toMatchObject([
    { type: "function_call", call_id: "c1" },
    { type: "function_call", call_id: "c2" },
  ]);
  const outputs = ["c1", "c2"].map((call_id) => ({ type: "function_call_output", call_id, output: "here" }));
  const next = await begin(service, { input: outputs, tools, previous_response_id: id });
  expect(textOf(await finished(service, next.id))).toBe("Both found.");
});

test("it is deleted with its thread, also while it runs", async () => {
  const model = await scriptedModel();
  model.script({ text: "Well,", end: "stall" });
  const service = await startService({ model });
  const { id } = await begin(service, { input: "Think" });
  await begunToSpeak(service, id);
  expect((await service.send("DELETE", `${PATH}/${id}`)).status).toBe(200);
  expect((await service.send("GET", `${PATH}/${id}`)).status).toBe(404);
  await expect
    .poll(async () => await (await service.send("GET", "/api/threads")).json())
    .toMatchObject({ threads: [] });
});

test("the first request of a conversation is refused, a later one runs in the background", async () => {
  const service = await startService();
  const made = await service.send("POST", "/openai/v1/conversations", {});
  const { id: conversation } = (await made.json()) as { id: string };
  const send = (body: object) =>
    service.send("POST", PATH, { model: "m", input: "Hello", conversation, ...body });
  const refused = await send({ background: true });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { param: "background", code: "conversation_is_empty" },
  });
  expect((await send({})).status).toBe(200);
  const { id } = (await (await send({ background: true })).json()) as ResponseObject;
  expect(await finished(service, id)).toMatchObject({
    status: "completed",
    conversation: { id: conversation },
  });
});
