/** Three nodes on one database, behind a balancer that sends each request to another of them. */
import { beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Fleet, startFleet, TOKEN } from "../support/processes/fleet.ts";
import { describePostgres, freshDatabase } from "../support/processes/postgres/database.ts";
import { SECRET } from "../support/services/webhook-plugins.ts";
import { afterThisFile, afterThisTest } from "../support/undo.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };

async function call(url: string, method = "GET", body?: unknown, headers: Record<string, string> = bearer) {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
  return { status: answer.status, json: (text.startsWith("{") ? JSON.parse(text) : undefined) as any };
}

/** The frames of one socket, as they come. */
async function listen(url: string) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/chat/ws`, { headers: bearer });
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
  const frames: any[] = [];
  socket.on("message", (data) => void frames.push(JSON.parse(String(data))));
  afterThisTest(() => socket.terminate());
  await expect.poll(() => frames.some(({ type }) => type === "hello")).toBe(true);
  return frames;
}

describePostgres("a fleet of three", () => {
  const later = afterThisFile();
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(await freshDatabase(later), { later });
  });
  const at = (node: number, path: string) => `${fleet.nodes[node]?.url}${path}`;

  test("every node lists all of them", async () => {
    const { json } = await call(`${fleet.gateway.url}/api/status`);
    expect(json.nodes).toHaveLength(3);
  });

  test("a thread that begins on one node goes on and is read on the others", async () => {
    fleet.model.script({ text: "First answer." }, { text: "Second answer." });
    const first = await call(at(0, "/api/chat"), "POST", { message: "One" });
    expect(first.json.response).toBe("First answer.");
    const second = await call(at(1, "/api/chat"), "POST", {
      message: "Two",
      thread_id: first.json.thread_id,
    });
    expect(second.json.response).toBe("Second answer.");
    expect(fleet.model.requests.at(-1)?.messages.map(({ content }) => content)).toContain("First answer.");
    const { json } = await call(at(2, `/api/threads/${first.json.thread_id}`));
    expect(json.turns).toHaveLength(2);
  });

  test("a turn streams to a socket on another node, whole and in order", async () => {
    const rest = Promise.withResolvers<string>();
    fleet.model.script({ text: ["One ", "two ", rest.promise, "four."] });
    const early = await listen(at(1, ""));
    const { json } = await call(at(0, "/api/chat/send"), "POST", { message: "Count" });
    const of = (frames: typeof early) => frames.filter((frame) => frame.turn_id === json.message_id);
    const textOf = (frames: typeof early) =>
      of(frames)
        .map((frame) => frame.delta ?? "")
        .join("");
    await expect.poll(() => textOf(early)).toBe("One two ");
    // One that comes in the middle sees the turn from its beginning.
    const late = await listen(at(2, ""));
    await expect.poll(() => textOf(late)).toBe("One two ");
    rest.resolve("three ");
    for (const frames of [early, late]) {
      await expect.poll(() => of(frames).at(-1)?.type).toBe("done");
      expect(textOf(frames)).toBe("One two three four.");
      expect(of(frames)[0]?.type).toBe("started");
      expect(of(frames).filter(({ type }) => type === "done")).toHaveLength(1);
    }
  });

  test("a thread has one running turn in the whole fleet, and those in line run in order", async () => {
    const held = Promise.withResolvers<string>();
    fleet.model.script({ text: [held.promise] }, { text: "b" }, { text: "c" });
    const first = await call(at(0, "/api/chat/send"), "POST", { message: "a" });
    const thread = first.json.thread_id;
    const asked = () => fleet.model.requests.length;
    const before = asked();
    const statuses = async () =>
      (await call(at(0, `/api/threads/${thread}`))).json.turns.map((turn: { status: string }) => turn.status);
    const inLine: ReturnType<typeof call>[] = [];
    for (const message of ["b", "c"]) {
      inLine.push(call(at(inLine.length + 1, "/api/chat"), "POST", { message, thread_id: thread }));
      await expect.poll(statuses).toEqual(["running", ...inLine.map(() => "queued")]);
    }
    expect(asked() - before).toBeLessThanOrEqual(1);
    held.resolve("a");
    expect((await Promise.all(inLine)).map(({ json }) => json.response)).toEqual(["b", "c"]);
    const said = fleet.model.requests.slice(-2).map(({ messages }) => messages.at(-1)?.content);
    expect(said).toEqual(["b", "c"]);
  });

  test("a turn is stopped from another node", async () => {
    fleet.model.script({ text: ["Never "], end: "stall" });
    const before = fleet.model.requests.length;
    const { json } = await call(at(0, "/api/chat/send"), "POST", { message: "Stop me" });
    await expect.poll(() => fleet.model.requests.length).toBe(before + 1);
    expect((await call(at(1, `/api/turns/${json.message_id}/cancel`), "POST", {})).json).toEqual({
      cancelled: true,
    });
    const status = async () => (await call(at(2, `/api/turns/${json.message_id}`))).json.status;
    await expect.poll(status).toBe("cancelled");
  });

  test("a job is run once, and its sender's repeat waits for the answer at another node", async () => {
    fleet.model.script({ text: ["Done."], delay: 300 });
    const send = (node: number, headers: Record<string, string> = {}) =>
      call(
        `${fleet.nodes[node]?.webhookUrl}/webhook`,
        "POST",
        { user_id: "ann", message: "Go" },
        { "x-webhook-secret": SECRET, "idempotency-key": "once", ...headers },
      );
    const first = await send(0);
    const again = await send(1, { prefer: "wait=60" });
    expect(again.json).toMatchObject({ job_id: first.json.job_id, status: "completed", response: "Done." });
  });

  test("a node that dies leaves its turn to be closed by another, with what it had said", async () => {
    fleet.model.script({ text: ["Half ", "a "], end: "stall" });
    const frames = await listen(at(1, ""));
    const { json } = await call(at(2, "/api/chat/send"), "POST", { message: "Tell me" });
    await expect.poll(() => frames.map(({ delta }) => delta ?? "").join("")).toBe("Half ");
    fleet.nodes[2]?.process.kill("SIGKILL");
    await expect
      .poll(() => frames.find((frame) => frame.turn_id === json.message_id && frame.type === "failed")?.code)
      .toBe("interrupted");
    const { json: turn } = await call(at(0, `/api/turns/${json.message_id}`));
    expect(JSON.stringify(turn.items)).toContain("Half ");
    await fleet.nodes[2]?.start();
  });
});
