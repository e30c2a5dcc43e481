import { createServer } from "node:net";

/** Below the ports that the system hands out, so that nobody gets it between two starts. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A free port for a process that has to keep it over a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}
