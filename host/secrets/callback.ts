/** Where a browser on this machine is sent back to after a sign-in: a listener on a loopback port, for one answer. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Callback {
  readonly redirectUri: string;
  /** The address the browser came back to, once `accepts` says it is the answer. */
  readonly answer: Promise<URL>;
  close(): void;
}

const PAGE = (text: string) =>
  `<!doctype html><meta charset="utf-8"><title>Postern</title><p style="font:1rem system-ui;margin:3rem">${text}</p>`;

/** `accepts` is asked for every address that comes in: others on this machine may knock too. */
export async function openCallback(accepts: (url: URL) => boolean): Promise<Callback> {
  const { promise, resolve } = Promise.withResolvers<URL>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", redirectUri);
    const isAnswer = request.method === "GET" && url.pathname === "/oauth/callback" && accepts(url);
    response.writeHead(isAnswer ? 200 : 404, {
      "content-type": "text/html; charset=utf-8",
      "referrer-policy": "no-referrer",
      connection: "close",
    });
    response.end(
      PAGE(isAnswer ? "Thank you. You can close this page and go back to the terminal." : "Nothing is here."),
    );
    if (isAnswer) resolve(url);
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", listening);
  });
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/callback`;
  return {
    redirectUri,
    answer: promise,
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}
