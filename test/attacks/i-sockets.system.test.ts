/** One user's sockets send without end: frames that no message tells of, and messages that are never finished. */
import { expect } from "vitest";
import { WebSocket } from "ws";
import { attack } from "../support/attacks.ts";
import { openGateway } from "../support/services/gateway.ts";

attack("I", "A socket that floods is cut, the next is refused, and another user's goes on", async () => {
  const gateway = await openGateway();
  const token = await gateway.addUser("eve");
  const other = await gateway.socket();
  await other.until(({ type }) => type === "hello");
  const floods: Readonly<Record<string, (socket: WebSocket) => void>> = {
    pings: (socket) => socket.ping(Buffer.alloc(125)),
    pongs: (socket) => socket.pong(Buffer.alloc(125)),
    messages: (socket) => socket.send("x".repeat(1000)),
    "empty pieces": (socket) => socket.send("", { fin: false }),
  };
  for (const [what, send] of Object.entries(floods)) {
    const user = await gateway.addUser(`eve-${what.replace(" ", "-")}`);
    const { raw, closed } = await gateway.socket({ token: user });
    // It does not read what it is answered either, where it is cut without a word; the protocol's own end waits for a reply.
    if (what !== "empty pieces") raw.pause();
    const flood = (): void => {
      for (let count = 0; count < 500 && raw.readyState === WebSocket.OPEN; count++) send(raw);
      if (raw.readyState === WebSocket.OPEN) setImmediate(flood);
    };
    flood();
    await new Promise((resolve) => raw.once("error", resolve).once("close", resolve));
    raw.terminate();
    await closed;
    if (what !== "empty pieces") await expect(gateway.socket({ token: user }), what).rejects.toThrow("429");
  }
  expect((await gateway.socket({ token })).raw.readyState).toBe(WebSocket.OPEN);
  expect(other.raw.readyState).toBe(WebSocket.OPEN);
});
