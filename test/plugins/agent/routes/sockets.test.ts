import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import type { SignedIn } from "../../../../plugins/accounts/services.ts";
import {
  createSockets,
  resumePoint,
  type Sockets,
  type SocketTimes,
} from "../../../../plugins/agent/routes/sockets.ts";
import { createOpenSockets } from "../../../../plugins/gateway/socket/open-sockets.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const identity: SignedIn = { user: { id: "operator", role: "operator" }, source: "operator:test" };

const TIMES: SocketTimes = { beatMillis: 30_000, keepMillis: 60_000 };

/** The sockets on a bare socket server; their time passes when the test says so. */
async function openHub(stands = () => true) {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const model = await scriptedModel();
  const service = await bootAgent({ model });
  const agent = service.service("agent");
  const sockets: Sockets = createSockets(agent, TIMES);
  const open = createOpenSockets({ isValid: async () => stands() }, TIMES.beatMillis);
  const beat = () => void vi.advanceTimersByTime(TIMES.beatMillis);
  const server = createServer().listen(0, "127.0.0.1");
  new WebSocketServer({ server }).on("connection", (socket, request) => {
    const { searchParams } = new URL(request.url ?? "", "http://localhost");
    sockets.connect(socket, identity.user, resumePoint(searchParams));
    open.add(socket, identity);
  });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(async () => {
    sockets.close();
    await open.close();
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
  return { sockets, open, agent, connect, beat };
}

const seen = (frames: readonly { type: string }[], type: string) => () =>
  frames.some((frame) => frame.type === type);

test("a socket that answers pings stays and hears that we are alive; one that does not is cut", async () => {
  const { connect, open, beat } = await openHub();
  const well = connect();
  const dead = connect("", { autoPong: false });
  await expect.poll(() => open.count()).toBe(2);
  beat();
  await expect.poll(seen(well.frames, "alive")).toBe(true);
  // What follows its answer has been heard: so has the answer.
  well.socket.ping();
  await once(well.socket, "pong");
  beat();
  expect(await dead.closed).toBe(1006);
  await expect.poll(() => open.count()).toBe(1);
  expect(well.socket.readyState).toBe(WebSocket.OPEN);
});

test("who is no longer signed in is closed at the next beat", async () => {
  let isSignedIn = true;
  const { connect, beat } = await openHub(() => isSignedIn);
  const { frames, closed } = connect();
  await expect.poll(seen(frames, "hello")).toBe(true);
  isSignedIn = false;
  beat();
  expect(await closed).toBe(1008);
});

test("a socket whose token was revoked while it was being opened is closed", async () => {
  const { connect } = await openHub(() => false);
  expect(await connect().closed).toBe(1008);
});

test("a stream nobody reads is dropped after a while, and whoever comes back later is told to fetch again", async () => {
  const { connect, agent, sockets, open, beat } = await openHub();
  const first = connect();
  await expect.poll(seen(first.frames, "hello")).toBe(true);
  await (await agent.run({ user: "operator", channel: "test", input: message("Hi") })).record;
  await expect.poll(seen(first.frames, "done")).toBe(true);
  const { stream } = first.frames[0];
  const { id } = first.frames.find(({ type }) => type === "done");
  first.socket.close();
  await first.closed;
  const isToldToFetch = async () => {
    const { frames, socket, closed } = connect(`?stream=${stream}&after=${id}`);
    await expect.poll(seen(frames, "hello")).toBe(true);
    beat();
    await expect.poll(seen(frames, "alive")).toBe(true);
    socket.terminate();
    await closed;
    return seen(frames, "resync")();
  };
  expect(await isToldToFetch()).toBe(false);
  await expect.poll(() => open.count()).toBe(0);
  for (let kept = 0; kept <= TIMES.keepMillis; kept += TIMES.beatMillis) beat();
  expect(sockets.streams()).toBe(0);
  expect(await isToldToFetch()).toBe(true);
});
