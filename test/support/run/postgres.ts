/** One PostgreSQL server for the whole run, started when the first file asks for it. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { TestProject } from "vitest/node";
import { type PostgresServer, startPostgres } from "../processes/postgres/server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Who connects is told the URL of the run's server. */
    readonly postgresPort: number;
    /** Where the kernels that tests boot keep their store: SQLite unless the project says otherwise. */
    readonly storeEngine: "postgres" | undefined;
  }
}

export default async function provide(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const door = createServer((socket) => {
    socket.on("error", () => {});
    server ??= startPostgres();
    server.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
      (error: Error) => socket.end(JSON.stringify({ error: error.message })),
    );
  }).listen(0, "127.0.0.1");
  await once(door, "listening");
  project.provide("postgresPort", (door.address() as AddressInfo).port);
  return async () => {
    door.close();
    await (await server?.catch(() => undefined))?.close();
  };
}
