/** Findings of `postern doctor` about a channel: whether its port can be opened, and whether its secret is long enough. */
import { createServer } from "node:net";
import type { Finding } from "../plugin.ts";

export interface CheckedPort {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The settings that would help are named in the advice. */
  readonly variables: string;
  /** The channel announced this in the service that runs on this home, if one does; empty while it starts. */
  readonly running: string | undefined;
}

export async function examinePort({ name, host, port, variables, running }: CheckedPort): Promise<Finding> {
  const address = `${host}:${port}`;
  const refusal = await tryPort(host, port);
  if (refusal === undefined) return { name, ok: true, detail: `${address} is free` };
  const [url] = /http:\/\/\S+/.exec(running ?? "") ?? [];
  if (running === "")
    return { name, ok: true, detail: `${address} is in use while Postern is starting on this home` };
  // A URL leaves the usual port out.
  if (url !== undefined && (URL.parse(url)?.port || "80") === String(port))
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

// Any length is accepted; a shorter one is warned about.
const MIN_STRONG_LENGTH = 16;

/** The warning for a secret that can be guessed; undefined for one that is long enough. */
function weaknessOf(name: string, secret: string): string | undefined {
  const { length } = secret;
  if (length >= MIN_STRONG_LENGTH) return undefined;
  const count = length === 1 ? "1 character" : `${length} characters`;
  return `${name} has only ${count}: use at least ${MIN_STRONG_LENGTH}, or it can be guessed`;
}

/** The warnings for those that are set, as the start-up table shows them behind an address. */
export function showWeaknesses(secrets: Readonly<Record<string, string | undefined>>): string {
  const found = Object.entries(secrets).flatMap(([name, secret]) =>
    secret === undefined ? [] : (weaknessOf(name, secret) ?? []),
  );
  return found.length === 0 ? "" : ` (${found.join("; ")})`;
}

/** A short secret works, so `postern doctor` warns about it and does not fail. */
export function examineSecret(name: string, variable: string, secret: string): Finding {
  const weakness = weaknessOf(variable, secret);
  return weakness === undefined
    ? { name, ok: true, detail: "set" }
    : { name, ok: true, warning: true, detail: weakness };
}
