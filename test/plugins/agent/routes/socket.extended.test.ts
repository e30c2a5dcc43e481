import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import {
  type Frame,
  OPERATOR_TOKEN,
  openGateway,
  type TestGateway,
} from "../../../support/services/gateway.ts";

const say = (gateway: TestGateway, message: string, token = OPERATOR_TOKEN) =>
  gateway.ask("/api/chat/send", { method: "POST", body: { message }, token });

const isDone = ({ type }: Frame) => type === "done";
const idsOf = (frames: readonly Frame[]) =>
  frames.filter(({ turn_id }) => turn_id !== undefined).map(({ id }) => id as number);
const textOf = (frames: readonly Frame[]) => frames.map(({ delta }) => delta ?? "").join("");

test("a socket tells a turn from start to end, with type first and numbers that grow by one", async () => {
  const model = await scriptedModel();
  model.script({ text: ["Hel", "lo ", "you"] });
  const gateway = await openGateway({ model });
  const socket = await gateway.socket();
  const { body } = await say(gateway, "Hi");
  const done = await socket.until(isDone);
  expect(done).toMatchObject({ thread_id: body.thread_id, turn_id: body.message_id, status: "completed" });
  expect(done.turn.items.at(-1)).toMatchObject({ text: "Hello you" });
  const [hello, started, ...rest] = socket.frames;
  expect(hello).toMatchObject({ type: "hello", id: 0, user: { id: "operator", role: "operator" } });
  expect(started).toMatchObject({ type: "started", id: 1 });
  expect(textOf(rest)).toBe("Hello you");
  expect(idsOf(socket.frames)).toEqual(idsOf(socket.frames).map((_, at) => at + 1));
  for (const frame of socket.frames) expect(Object.keys(frame)[0]).toBe("type");
});

test("turns of every channel of this user arrive, and none of another's", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const token = await gateway.addUser("alice");
  const [alice, operator] = [await gateway.socket({ token }), await gateway.socket()];
  const turn = await gateway.service
    .service("agent")
    .run({ user: "alice", channel: "webhook", input: { type: "message", text: "Hi" } });
  await alice.until(isDone);
  expect(alice.frames.at(-1).turn_id).toBe(turn.id);
  await say(gateway, "Mine");
  await operator.until(isDone);
  expect(operator.frames.some((frame) => frame.turn_id === turn.id)).toBe(false);
});

test("after a drop a client resumes from its last event, nothing lost and nothing doubled", async () => {
  const model = await scriptedModel();
  const [dropped, resumed] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  model.script({ text: ["one ", "two ", dropped.promise, "four ", resumed.promise, "six"] });
  const gateway = await openGateway({ model });
  const [first, witness] = [await gateway.socket(), await gateway.socket()];
  const says = (word: string) => (frame: Frame) => frame.type === "text" && frame.delta.includes(word);
  await say(gateway, "Go");
  await first.until(says("two"));
  first.raw.terminate();
  await first.closed;
  const seen: Frame[] = [...first.frames];
  const last = idsOf(seen).at(-1) as number;
  dropped.resolve("three ");
  await witness.until(says("four"));

  const second = await gateway.socket({ query: `?stream=${seen[0].stream}&after=${last}` });
  await second.until(says("four"));
  resumed.resolve("five ");
  await second.until(isDone);
  expect(second.frames[0]).toMatchObject({ type: "hello", stream: seen[0].stream, id: last });
  expect(second.frames.some(({ type }) => type === "resync")).toBe(false);
  const ids = [...idsOf(seen), ...idsOf(second.frames)];
  expect(ids).toEqual(ids.map((_, at) => at + 1));
  expect(textOf([...seen, ...second.frames])).toBe("one two three four five six");
});

test("a client that was away while everything happened catches up", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const first = await gateway.socket();
  const { stream } = first.frames[0] ?? (await first.until(() => true));
  first.raw.terminate();
  await first.closed;
  await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
  const second = await gateway.socket({ query: `?stream=${stream}&after=0` });
  await second.until(isDone);
  expect(idsOf(second.frames)[0]).toBe(1);
});

test("a client of before a restart is told to fetch again, once", async () => {
  const model = await scriptedModel();
  const before = await openGateway({ model });
  const first = await before.socket();
  await say(before, "Hi");
  const { id } = await first.until(isDone);
  const { stream } = first.frames[0];
  await before.service.stop();
  expect(await first.closed).toMatchObject({ code: 1001 });

  const after = await openGateway({ model, home: before.service.home });
  const second = await after.socket({ query: `?stream=${stream}&after=${id}` });
  expect(await second.until(({ type }) => type === "resync")).toMatchObject({ id: 0 });
  await say(after, "Again");
  await second.until(isDone);
  expect(second.frames.filter(({ type }) => type === "resync")).toHaveLength(1);
  expect(second.frames[0].stream).not.toBe(stream);
});

test("a number from the future or nonsense is a resync, never a silence", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const { frames } = await gateway.socket();
  await expect.poll(() => frames.length).toBe(1);
  const { stream } = frames[0];
  for (const query of [`?stream=${stream}&after=999`, "?stream=other&after=0"]) {
    const socket = await gateway.socket({ query });
    expect(await socket.until(({ type }) => type === "resync")).toMatchObject({ stream });
  }
});

test("a page that opens in the middle of a turn sees that turn whole", async () => {
  const model = await scriptedModel();
  const opened = Promise.withResolvers<string>();
  model.script({ text: "done before" }, { text: ["one ", opened.promise, "three"] });
  const gateway = await openGateway({ model });
  await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
  const early = await gateway.socket();
  const { body } = await say(gateway, "Go");
  await early.until(({ type }) => type === "text");
  const late = await gateway.socket();
  await late.until(({ type }) => type === "text");
  opened.resolve("two ");
  await late.until(isDone);
  expect(textOf(late.frames)).toBe("one two three");
  expect(new Set(late.frames.slice(1).map(({ turn_id }) => turn_id))).toEqual(new Set([body.message_id]));
});

test("an upgrade needs a token in the header or the cookie, never in the address", async () => {
  const gateway = await openGateway();
  const refused = "401 Invalid or missing auth token";
  await expect(gateway.socket({ token: "" })).rejects.toThrow(refused);
  await expect(gateway.socket({ token: "wrong-token" })).rejects.toThrow(refused);
  await expect(gateway.socket({ token: "", query: `?token=${OPERATOR_TOKEN}` })).rejects.toThrow(refused);
  const signedIn = await gateway.ask("/api/session", {
    method: "POST",
    token: "",
    body: { token: OPERATOR_TOKEN },
  });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] as string;
  const socket = await gateway.socket({ token: "", headers: { cookie, origin: gateway.url } });
  await socket.until(({ type }) => type === "hello");
  expect((await gateway.ask("/api/chat/ws")).status).toBe(426);
});

test("a foreign origin is refused, a listed one and our own are not", async () => {
  const gateway = await openGateway({ variables: { GATEWAY_ALLOWED_ORIGINS: "https://friend.example" } });
  await expect(gateway.socket({ headers: { origin: "https://evil.example" } })).rejects.toThrow("403");
  await expect(gateway.socket({ headers: { origin: "null" } })).rejects.toThrow("403");
  await gateway.socket({ headers: { origin: "https://friend.example" } });
  await gateway.socket({ headers: { origin: gateway.url } });
});

test("behind a reverse proxy the upgrade believes the proxy's host, and only the proxy's", async () => {
  const headers = {
    origin: "https://chat.example.org",
    "x-forwarded-host": "chat.example.org",
    "x-forwarded-proto": "https",
  };
  const trusting = await openGateway({ variables: { TRUSTED_PROXIES: "127.0.0.1" } });
  await trusting.socket({ headers });
  const wary = await openGateway();
  await expect(wary.socket({ headers })).rejects.toThrow("403");
});

test("a revoked token and a sign-out close the socket at once", async () => {
  const gateway = await openGateway();
  const token = await gateway.addUser("alice");
  const byToken = await gateway.socket({ token });
  const signedIn = await gateway.ask("/api/session", {
    method: "POST",
    token: "",
    body: { token: OPERATOR_TOKEN },
  });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] as string;
  const byCookie = await gateway.socket({ token: "", headers: { cookie } });
  const stays = await gateway.socket();
  const { body } = await gateway.ask("/api/tokens");
  await gateway.ask(`/api/tokens/${body.tokens[0].id}`, { method: "DELETE" });
  expect(await byToken.closed).toMatchObject({ code: 1008 });
  await gateway.ask("/api/session", { method: "DELETE", token: "", headers: { cookie } });
  expect(await byCookie.closed).toMatchObject({ code: 1008 });
  expect(stays.raw.readyState).toBe(stays.raw.OPEN);
});

test("a user has a bounded number of sockets", async () => {
  const gateway = await openGateway();
  const token = await gateway.addUser("alice");
  const opened = [];
  for (let at = 0; at < 32; at++) opened.push(await gateway.socket({ token }));
  await expect(gateway.socket({ token })).rejects.toThrow("429");
  await gateway.socket();
  opened[0]?.raw.close();
  await opened[0]?.closed;
  await gateway.socket({ token });
});

test("a socket that does not read holds up nobody and is closed with a code to come back by", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const slow = await gateway.socket();
  await slow.until(({ type }) => type === "hello");
  slow.raw.pause();
  const quick = await gateway.socket();
  const big = "x".repeat(1024 * 1024);
  // More than the kernel's buffers and what is kept for a socket hold together: each says the text twice.
  const rounds = 14;
  for (let at = 0; at < rounds; at++) {
    model.script({ text: big });
    await gateway.ask("/api/chat", { method: "POST", body: { message: `${at}` } });
  }
  await expect.poll(() => quick.frames.filter(isDone).length).toBe(rounds);
  expect(slow.frames).toHaveLength(1);
  slow.raw.resume();
  expect(await slow.closed).toMatchObject({ code: 1013 });
  const last = idsOf(slow.frames).at(-1) ?? 0;
  const back = await gateway.socket({ query: `?stream=${slow.frames[0].stream}&after=${last}` });
  await back.until(({ type }) => type === "resync");
});
