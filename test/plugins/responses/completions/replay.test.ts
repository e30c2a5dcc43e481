/** The whole conversation comes with each request; it is one thread all the same. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { completed, streamed, textIn } from "../../../support/services/completions.ts";
import { startService } from "../../../support/services/responses.ts";

const FIND = { type: "function", function: { name: "find_order", parameters: { type: "object" } } };
const SYSTEM = { role: "system", content: "Be brief." };
const user = (content: string) => ({ role: "user", content });

test("a conversation that is replayed goes on with its thread, also with our tools between", async () => {
  const model = await scriptedModel();
  model.script(
    { text: "Let me look.", calls: [{ name: "stock", arguments: {} }] },
    { text: "There are 12." },
    { text: "You are welcome." },
    { text: "Good night." },
  );
  const run = () => ({ status: "ok", output: "12" }) as const;
  const service = await startService({ model, tools: { stock: { run } } });
  const first = [SYSTEM, user("How many?")];
  const one = await completed(service, { messages: first });
  const second = [...first, one.choices[0]?.message, user("Thanks")];
  const two = await completed(service, { messages: second });
  const frames = await streamed(service, { messages: [...second, two.choices[0]?.message, user("Bye")] });
  expect(textIn(frames)).toBe("Good night.");
  const threads = [one.x_postern, two.x_postern, frames.at(-1)].map((from) => {
    const { x_postern = from } = from as { x_postern?: { thread_id: string } };
    return (x_postern as { thread_id: string }).thread_id;
  });
  expect(new Set(threads).size).toBe(1);
  expect((await service.kernel.service("threads").list("operator")).items).toHaveLength(1);
  // Each is said to the model once.
  const said = JSON.stringify(model.requests.at(-1)?.messages);
  for (const text of ["How many?", "There are 12.", "Thanks", "Be brief."])
    expect(said.split(text)).toHaveLength(2);
});

test("forty rounds of tool calls are one thread, and the model sees each output once", async () => {
  const model = await scriptedModel();
  let round = 0;
  model.otherwise(() =>
    ++round > 40
      ? { text: "Done." }
      : {
          text: `Round ${round}.`,
          calls: [{ id: `call_${round}`, name: "find_order", arguments: { round } }],
        },
  );
  const service = await startService({ model });
  const messages: unknown[] = [user("Find all orders")];
  for (;;) {
    const { choices } = await completed(service, { messages, tools: [FIND] });
    const message = choices[0]?.message;
    messages.push(message);
    if (message?.tool_calls === undefined) break;
    for (const { id } of message.tool_calls)
      messages.push({ role: "tool", tool_call_id: id, content: "shipped" });
  }
  expect(round).toBe(41);
  const threads = service.kernel.service("threads");
  const { items } = await threads.list("operator");
  expect(items).toHaveLength(1);
  const seen = model.requests.at(-1)?.messages.filter(({ role }) => role === "tool");
  expect(seen?.map(({ tool_call_id }) => tool_call_id)).toEqual(
    Array.from({ length: 40 }, (_, index) => `call_${index + 1}`),
  );
});

test("an edited conversation is another thread, and the first one stays as it is", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const one = await completed(service, { messages: [user("Hi")] });
  const edited = [user("Hello"), one.choices[0]?.message, user("And?")];
  const two = await completed(service, { messages: edited });
  expect(two.x_postern.thread_id).not.toBe(one.x_postern.thread_id);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("Hello");
});

test.each([false, true])('"store": false leaves nothing behind, streamed: %s', async (stream) => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const body = { say: "Hi", store: false };
  if (stream) expect(textIn(await streamed(service, body))).toBe("ok");
  else expect((await completed(service, body)).choices[0]?.message.content).toBe("ok");
  const threads = service.kernel.service("threads");
  await expect.poll(async () => (await threads.list("operator")).items).toHaveLength(0);
});

test("a chat goes on also where Responses may not be replayed", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ id: "call_1", name: "find_order", arguments: {} }] }, { text: "Shipped." });
  const service = await startService({ model, variables: { RESPONSES_STATELESS_REPLAY: "false" } });
  const one = await completed(service, { messages: [user("Where?")], tools: [FIND] });
  const output = { role: "tool", tool_call_id: "call_1", content: "shipped" };
  const messages = [user("Where?"), one.choices[0]?.message, output];
  const two = await completed(service, { messages, tools: [FIND] });
  expect(two.choices[0]?.message.content).toBe("Shipped.");
});
