import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { startPostern } from "../../../support/processes/postern.ts";
import { servePostern } from "../../../support/processes/served.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const ASKER = fileURLToPath(new URL("../../../fixtures/third-party/asker.ts", import.meta.url));

test("a process that is killed in the middle of a turn and of a job loses neither", async () => {
  const model = await scriptedModel();
  // No answer comes to its end, so that the kill falls into it.
  model.otherwise({ text: Array.from({ length: 10_000 }, (_, count) => `word ${count} `), delay: 20 });
  const home = temporaryFolder();
  const postern = startPostern(["serve"], {
    env: {
      POSTERN_HOME: home,
      PLUGINS: ASKER,
      MODEL_BASE_URL: model.url,
      GATEWAY_ENABLED: "false",
      MEMORY_VECTORS: "false",
    },
    cwd: home,
  });
  await postern.printed("asked ");
  const [, turn, thread, job] = /asked (\S+) (\S+) (\S+)/.exec(postern.stdout()) ?? [];
  await expect.poll(() => model.requests.length).toBe(2);
  // What has been said is on disk before anybody hears it.
  const beside = new DatabaseSync(join(home, "store.sqlite"), { readOnly: true });
  onTestFinished(() => beside.close());
  const written = beside.prepare("SELECT text FROM turn_pieces WHERE turn = ?");
  await expect.poll(() => JSON.stringify(written.all(turn ?? ""))).toContain("word 10 ");
  postern.kill("SIGKILL");
  await postern.ended;

  model.otherwise({ text: "Done." });
  const kernel = await bootAgent({ model, home });
  const record = await kernel.service("threads").turn("ann", turn ?? "");
  expect(record).toMatchObject({
    status: "failed",
    error: { code: "interrupted", message: expect.stringContaining("restart") },
    items: [
      { role: "user", text: "Tell me a story" },
      { role: "assistant", text: expect.stringContaining("word 10 ") },
    ],
  });
  expect((await kernel.service("threads").list("ann", { q: "story" })).items).toHaveLength(1);
  const done = await kernel.service("jobs").wait(job ?? "", 300_000);
  expect(done).toMatchObject({ status: "completed", response: "Done." });
  expect(JSON.stringify(model.requests.at(-1))).toContain("Be brief.");
  const next = await kernel
    .service("agent")
    .run({ user: "ann", channel: "test", thread: thread ?? "", input: message("Go on") });
  expect((await next.record).status).toBe("completed");
});

async function serve() {
  const token = "t".repeat(40);
  const served = await servePostern({ GATEWAY_AUTH_TOKEN: token, MEMORY_VECTORS: "false" });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const request = async (path: string, body?: object) => {
    const post = { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(`${served.url}${path}`, { headers, ...(body && post) });
    expect(answer.status).toBe(body ? 202 : 200);
    return await answer.json();
  };
  return {
    ...served,
    read: (turn: string) => request(`/api/turns/${turn}`),
    async send(body: object) {
      const sent = await request("/api/chat/send", body);
      return { thread: sent.thread_id as string, id: sent.message_id as string };
    },
  };
}

test.each(["SIGKILL", "SIGINT"] as const)(
  "a message that waits in line at a %s is answered after the restart",
  async (signal) => {
    const { model, restart, send, read } = await serve();
    model.script({ text: "Half a ", end: "stall" });
    const { thread } = await send({ message: "Hi" });
    await expect.poll(() => model.requests.length).toBe(1);
    const { id } = await send({ message: "And then?", thread_id: thread });
    model.otherwise({ text: "Then this." });
    await restart(signal);
    await expect.poll(async () => (await read(id)).status).toBe("completed");
    const asked = model.requests.map(({ messages }) =>
      JSON.stringify(messages.findLast(({ role }) => role === "user")),
    );
    expect(asked.filter((last) => last.includes("And then?"))).toHaveLength(1);
  },
);

test.each(["SIGKILL", "SIGINT"] as const)(
  "a message that a turn had taken and not come to at a %s is heard once, after the restart",
  async (signal) => {
    const { model, restart, send, read } = await serve();
    const said = Promise.withResolvers<string>();
    const calls = [{ name: "memory_tree", arguments: {} }];
    model.script({ text: ["Let me ", said.promise], calls }, { text: "", end: "stall" });
    const first = await send({ message: "Begin" });
    await expect.poll(() => model.requests.length).toBe(1);
    const { id } = await send({ message: "Make it blue", thread_id: first.thread });
    said.resolve("look.");
    await expect.poll(() => model.requests.length).toBe(2);
    expect((await read(id)).id).toBe(first.id);
    model.otherwise({ text: "It is blue." });
    await restart(signal);
    await expect.poll(async () => await read(id)).toMatchObject({ id, status: "completed" });
    const begun = await read(first.id);
    expect(begun).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(JSON.stringify(begun.items)).not.toContain("Make it blue");
    expect(model.requests).toHaveLength(3);
    expect(JSON.stringify(model.requests[2]).split("Make it blue")).toHaveLength(2);
  },
);
