/** Tells `postern doctor` whether a channel could open its port, or whether the running service of this home holds it. */
import { createServer } from "node:net";
import type { Finding } from "../plugin.ts";

export interface CheckedPort {
  /** The title of the finding, such as `gateway`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The settings that would help are named in the advice. */
  readonly variables: string;
  /** The channel announced this in the service that runs on this home, if one does. */
  readonly running: string | undefined;
}

export async function examinePort({ name, host, port, variables, running }: CheckedPort): Promise<Finding> {
  const address = `${host}:${port}`;
  const refusal = await tryPort(host, port);
  if (refusal === undefined) return { name, ok: true, detail: `${address} is free` };
  const [url] = /http:\/\/\S+/.exec(running ?? "") ?? [];
  if (url !== undefined && URL.parse(url)?.port === String(port))
    return { name, ok: true, detail: `Postern is running on ${address}` };
  const detail = `${address} cannot be opened (${refusal}): stop the program that uses it, or set ${variables}`;
  return { name, ok: false, detail };
}

function tryPort(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
