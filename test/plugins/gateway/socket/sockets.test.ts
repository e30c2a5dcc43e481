import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import { OPERATOR } from "../../../../plugins/gateway/auth/accounts.ts";
import { createSockets, type Sockets, type SocketTimes } from "../../../../plugins/gateway/socket/sockets.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const identity = { user: OPERATOR, source: "operator:test" };

/** The sockets on a bare socket server, with times short enough to wait for. */
async function openHub(times: SocketTimes, stands = () => true) {
  const model = await scriptedModel();
  const service = await bootAgent({ model });
  const agent = service.service("agent");
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const authenticator = { identify: async () => identity, admit: async () => identity, stands };
  const sockets: Sockets = createSockets(agent, authenticator, log, times);
  const server = createServer().listen(0, "127.0.0.1");
  new WebSocketServer({ server }).on("connection", (socket, request) => {
    const query = new URL(request.url ?? "", "http://localhost").searchParams;
    const stream = query.get("stream");
    sockets.connect(
      socket,
      identity,
      stream === null ? undefined : { stream, after: Number(query.get("after")) },
    );
  });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(async () => {
    await sockets.close();
    server.close();
  });
  const connect = (query = "", options = {}) => {
    const socket = new WebSocket(
      `ws://127.0.0.1:${(server.address() as AddressInfo).port}/${query}`,
      options,
    );
    onTestFinished(() => socket.terminate());
    // biome-ignore lint/suspicious/noExplicitAny: frames are checked where the whole gateway is tested
    const frames: any[] = [];
    socket.on("message", (data) => void frames.push(JSON.parse(String(data))));
    const closed = new Promise<number>((resolve) => socket.on("close", resolve));
    return { socket, frames, closed };
  };
  return { sockets, agent, connect };
}

const seen = (frames: readonly { type: string }[], type: string) => () =>
  frames.some((frame) => frame.type === type);

test("a socket that answers pings stays and hears that we are alive; one that does not is cut", async () => {
  const { connect, sockets } = await openHub({ beatMillis: 500, keepMillis: 60_000 });
  const well = connect();
  const dead = connect("", { autoPong: false });
  await expect.poll(seen(well.frames, "alive"), { timeout: 10_000 }).toBe(true);
  expect(await dead.closed).toBe(1006);
  await expect.poll(() => sockets.count).toBe(1);
  expect(well.socket.readyState).toBe(WebSocket.OPEN);
});

test("who is no longer signed in is closed at the next beat", async () => {
  let isSignedIn = true;
  const { connect } = await openHub({ beatMillis: 500, keepMillis: 60_000 }, () => isSignedIn);
  const { frames, closed } = connect();
  await expect.poll(seen(frames, "hello")).toBe(true);
  isSignedIn = false;
  expect(await closed).toBe(1008);
});

test("a stream nobody reads is dropped after a while, and whoever comes back later is told to fetch again", async () => {
  const { connect, agent, sockets } = await openHub({ beatMillis: 500, keepMillis: 1500 });
  const first = connect();
  await expect.poll(seen(first.frames, "hello")).toBe(true);
  await agent.run({ user: "operator", channel: "test", input: message("Hi") }).record;
  await expect.poll(seen(first.frames, "done"), { timeout: 10_000 }).toBe(true);
  const { stream } = first.frames[0];
  const { id } = first.frames.find(({ type }) => type === "done");
  first.socket.close();
  await first.closed;
  const isToldToFetch = async () => {
    const { frames, socket } = connect(`?stream=${stream}&after=${id}`);
    await expect.poll(seen(frames, "alive"), { timeout: 10_000 }).toBe(true);
    socket.terminate();
    return seen(frames, "resync")();
  };
  expect(await isToldToFetch()).toBe(false);
  await expect.poll(() => sockets.streams, { timeout: 10_000 }).toBe(0);
  expect(await isToldToFetch()).toBe(true);
});
