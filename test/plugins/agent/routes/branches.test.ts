/** Branches of a thread over the API: edited messages, answers asked for again. */
import { randomUUIDv7 } from "node:crypto";
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

test("a message with after begins a branch: the model sees that path alone, and the page gets its versions", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const say = async (body: Record<string, unknown>, answer: string) => {
    model.script({ text: [answer] });
    return (await gateway.ask("/api/chat", { method: "POST", body })).body;
  };
  const seen = () =>
    model.requests
      .at(-1)
      ?.messages.filter(({ role }) => role !== "system")
      .map(({ content }) => content);
  const first = await say({ message: "My cat is called Tom." }, "Tom it is.");
  const { thread_id } = first;
  const turns = async (query = "") => (await gateway.ask(`/api/threads/${thread_id}${query}`)).body;
  const said = async (query: string) =>
    (await turns(query)).turns.map((turn: { input: { text: string } }) => turn.input.text);
  const second = await say({ message: "What is it called?", thread_id, after: first.message_id }, "Tom.");

  // The first message, edited.
  const edited = await say({ message: "My cat is called Ada.", thread_id, after: null }, "Ada it is.");
  expect(seen()).toEqual(["My cat is called Ada."]);
  await say({ message: "What is it called?", thread_id, after: edited.message_id }, "Ada.");
  expect(JSON.stringify(seen())).not.toContain("Tom");
  expect(await said("?through=newest")).toEqual(["My cat is called Ada.", "What is it called?"]);
  expect(await said(`?through=${second.message_id}`)).toEqual([
    "My cat is called Tom.",
    "What is it called?",
  ]);
  expect(await said("")).toHaveLength(4);

  // An answer that was fine, asked for again.
  model.script({ text: ["It is called Tom."] });
  const retried = await gateway.ask(`/api/turns/${second.message_id}/retry`, { method: "POST" });
  expect(retried.status).toBe(202);
  const { message_id } = retried.body;
  const turn = async () => (await gateway.ask(`/api/turns/${message_id}`)).body;
  await expect.poll(async () => (await turn()).status).toBe("completed");
  expect((await turn()).after).toBe(first.message_id);
  expect(seen()).toEqual(["My cat is called Tom.", "Tom it is.", "What is it called?"]);
  const path = await turns(`?through=${message_id}`);
  expect(path.versions).toEqual([
    {
      turn_id: first.message_id,
      versions: [
        { id: first.message_id, message: 1 },
        { id: edited.message_id, message: 2 },
      ],
    },
    {
      turn_id: message_id,
      versions: [
        { id: second.message_id, message: 1 },
        { id: message_id, message: 1 },
      ],
    },
  ]);

  // What is not there, or not theirs, cannot be gone on from.
  const other = await say({ message: "Elsewhere" }, "Yes.");
  const refused = async (after: unknown, thread?: string) => {
    const body = { message: "x", after, ...(thread && { thread_id: thread }) };
    const { status, body: given } = await gateway.ask("/api/chat/send", { method: "POST", body });
    return [status, given.error.code];
  };
  expect(await refused(other.message_id, thread_id)).toEqual([404, "turn_not_found"]);
  expect(await refused(randomUUIDv7(), thread_id)).toEqual([404, "turn_not_found"]);
  expect(await refused(first.message_id)).toEqual([404, "turn_not_found"]);
  expect(await refused(7, thread_id)).toEqual([400, "invalid_request"]);
  const unknown = await gateway.ask(`/api/threads/${thread_id}?through=${other.message_id}`);
  expect([unknown.status, unknown.body.error.code]).toEqual([404, "turn_not_found"]);
});
