/** What `postern doctor` wants to know: could the listener be opened now, could the callback be reached? */
import { createServer } from "node:net";
import { resolveFor } from "../../kernel/net/address.ts";
import type { Finding } from "../../kernel/plugin.ts";
import { type CallbackTarget, explainFailure } from "./callback-target.ts";

export function examineListener(host: string, port: number): Promise<Finding> {
  const name = "webhook port";
  const address = `${host}:${port}`;
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code }: NodeJS.ErrnoException) => {
      const detail = `${address} cannot be opened (${code}): stop the program that uses it, or set HTTP_PORT or HTTP_HOST`;
      resolve({ name, ok: false, detail });
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => resolve({ name, ok: true, detail: `${address} is free` }));
    });
  });
}

/** Asks for the address only: a connection would show at the receiver. */
export async function examineCallback({ url, privateHosts }: CallbackTarget): Promise<Finding> {
  const name = "webhook callback";
  try {
    await resolveFor(url, privateHosts);
    return { name, ok: true, detail: `${url.hostname} has an address that callbacks may reach` };
  } catch (error) {
    return { name, ok: false, detail: `HTTP_CALLBACK_URL cannot be reached: ${explainFailure(error)}` };
  }
}
