import { expect, test } from "vitest";
import { bootAgent, eventsOf, message, scriptedModel, textIn } from "../../support/services/agent.ts";

const READER = { run: () => ({ status: "ok", output: "It is noon." }) as const };

async function ask(running: Awaited<ReturnType<typeof bootAgent>>, text: string) {
  return eventsOf(await running.service("agent").run({ user: "ann", channel: "test", input: message(text) }));
}

test("another model answers from the next turn on, and a turn that runs keeps what it began with", async () => {
  const [first, second] = [await scriptedModel(), await scriptedModel()];
  const held = Promise.withResolvers<string>();
  first.script(
    { text: ["Let me ", held.promise], calls: [{ name: "clock", arguments: {} }] },
    { text: "see: noon." },
  );
  second.script({ text: "I am the second." });
  const running = await bootAgent({ tools: { clock: READER }, variables: { MODEL_PROVIDER: "auto" } });
  const settings = running.service("settings");
  await settings.change({ MODEL_BASE_URL: first.url, MODEL_NAME: "one" }, "operator");
  const turn = ask(running, "What time is it?");
  await expect.poll(() => first.requests.length).toBe(1);
  await settings.change(
    { MODEL_BASE_URL: second.url, MODEL_NAME: "two", TOOL_APPROVALS: "clock=deny", TURN_MAX_TOOL_CALLS: "1" },
    "operator",
  );
  expect(running.service("agent").model()).toEqual({ provider: "openai-compatible", name: "two" });
  held.resolve("look. ");
  expect(textIn(await turn)).toBe("Let me look. see: noon.");
  expect(first.requests).toHaveLength(2);
  expect(textIn(await ask(running, "And who are you?"))).toBe("I am the second.");
  expect(second.requests.map(({ model }) => model)).toEqual(["two"]);
  // Announced, for the status and the start-up table.
  expect(running.states.find(({ name }) => name === "models")?.detail).toContain("two");
});

test("approvals, provenance, the cap and the rate limit hold from the next turn on", async () => {
  const model = await scriptedModel();
  const call = { calls: [{ name: "clock", arguments: {} }] };
  model.script(call, { text: "noon" }, call, { text: "not allowed" });
  const running = await bootAgent({ model, tools: { clock: READER } });
  const settings = running.service("settings");
  expect(textIn(await ask(running, "Time?"))).toBe("noon");
  await settings.change({ TOOL_APPROVALS: "clock=deny" }, "operator");
  const denied = await ask(running, "Time?");
  expect(JSON.stringify(denied)).toContain("is not allowed here");
  await settings.change({ DAILY_USD_CAP: "0" }, "operator");
  expect(await ask(running, "Time?")).toContainEqual(
    expect.objectContaining({ type: "failed", code: "daily_cap" }),
  );
  const chatLimit = running.service("agent").chatLimit;
  expect(await chatLimit.take("ann")).toMatchObject({ ok: true, limit: 30, remaining: 29 });
  await settings.change({ CHAT_RATE_LIMIT: "2" }, "operator");
  expect(await chatLimit.take("ann")).toMatchObject({ ok: true, limit: 2, remaining: 0 });
  expect(await chatLimit.take("ann")).toMatchObject({ ok: false, limit: 2 });
  expect((await settings.list()).map(({ name }) => name)).toEqual(
    expect.arrayContaining(["MODEL_PROVIDER", "ANTHROPIC_API_KEY", "PROVENANCE", "TURN_IDLE_SECS"]),
  );
});

test("a key of the environment is sent to no server that is stored, and a stored one only where it was meant to go", async () => {
  const running = await bootAgent({
    variables: { MODEL_PROVIDER: "openai", OPENAI_API_KEY: "key-of-the-environment" },
  });
  const settings = running.service("settings");
  const elsewhere = "https://elsewhere.example/v1";
  await expect(settings.change({ MODEL_BASE_URL: elsewhere }, "operator")).rejects.toThrow("OPENAI_API_KEY");
  await expect(
    settings.change({ MODEL_FALLBACK_PROVIDER: "openai", MODEL_FALLBACK_BASE_URL: elsewhere }, "operator"),
  ).rejects.toThrow("OPENAI_API_KEY");
  // The server gets a key of its own.
  await settings.change({ MODEL_BASE_URL: elsewhere, MODEL_API_KEY: "key-of-elsewhere" }, "operator");
  await expect(settings.change({ MODEL_API_KEY: null }, "operator")).rejects.toThrow("OPENAI_API_KEY");
  await expect(settings.change({ MODEL_BASE_URL: `${elsewhere}/x` }, "operator")).rejects.toThrow(
    "once more",
  );
});
