/** What `postern doctor` wants to know: could the listener be opened now? */
import { createServer } from "node:net";
import type { Finding } from "../../kernel/plugin.ts";

export function examineListener(host: string, port: number): Promise<Finding> {
  const name = "webhook port";
  const address = `${host}:${port}`;
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code }: NodeJS.ErrnoException) => {
      const detail = `${address} cannot be opened (${code}): stop what uses it, or set HTTP_PORT or HTTP_HOST`;
      resolve({ name, ok: false, detail });
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => resolve({ name, ok: true, detail: `${address} is free` }));
    });
  });
}
