/** A way to a server that can be cut, and along which nothing moves while it is held. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterThisTest } from "../undo.ts";

export interface TcpProxy {
  readonly port: number;
  /** Ends every connection, and takes no other until it is mended. */
  cut(): void;
  mend(): void;
  hold(): void;
  release(): void;
}

export async function startTcpProxy(to: number, later = afterThisTest): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isHeld = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    if (isHeld) socket.pause();
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  const server = createServer((from) => {
    if (isCut) return void from.destroy();
    const onward = connect(to, "127.0.0.1");
    from.on("data", (bytes) => onward.write(bytes)).on("close", () => onward.destroy());
    onward.on("data", (bytes) => from.write(bytes)).on("close", () => from.destroy());
    keep(from);
    keep(onward);
  });
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  later(() => {
    cut();
    server.close();
  });
  return {
    port,
    cut,
    mend: () => {
      isCut = false;
    },
    hold: () => {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    release: () => {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
  };
}
