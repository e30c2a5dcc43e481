/** A connection of our own, for what an HTTP client would tidy up. */
import { connect } from "node:net";

/** Sends bytes as they are; answers the status lines that came back once there are so many, or at the end. */
export function statusLines(
  url: string,
  bytes: readonly (string | Uint8Array)[],
  count: number,
): Promise<string[]> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = "";
    const found = () => text.match(/HTTP\/1\.1 \d{3} [^\r]*(?=\r)/g) ?? [];
    const socket = connect(Number(port), hostname, () => {
      for (const piece of bytes) socket.write(piece);
    });
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk;
      if (found().length >= count) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(found()));
  });
}

/** The lines of a request's head, as they go over the wire. */
export function head(...lines: readonly string[]): string {
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** One piece of a body whose length is not declared. */
export function chunk(bytes: string | Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    Buffer.from(bytes),
    Buffer.from("\r\n"),
  ]);
}

export const LAST_CHUNK = "0\r\n\r\n";
