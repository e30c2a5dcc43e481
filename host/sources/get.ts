/** One file of a server, whole; anything but that is a fault. */
import { Fault } from "../../kernel/plugin.ts";
import type { Downloads } from "./download.ts";

export interface GetOptions {
  readonly maxBytes: number;
  /** For the whole answer. */
  readonly timeoutMs: number;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
}

/** `what`: for messages, for example "npm:weather". */
export async function getFile(
  downloads: Downloads,
  url: string,
  what: string,
  { maxBytes, timeoutMs, accept = "*/*", signal }: GetOptions,
): Promise<Uint8Array> {
  const place = URL.parse(url);
  if (place === null)
    throw new Fault("invalid", "tool_download", `${what} is said to be at what is not a URL.`);
  const timeout = AbortSignal.timeout(timeoutMs);
  const answer = await downloads
    .send(place, {
      headers: { accept },
      maxBytes,
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    })
    .catch((error: unknown) => {
      if (!timeout.aborted || signal?.aborted === true) throw error;
      throw new Fault(
        "unavailable",
        "tool_download",
        `${place.host} did not send ${what} within ${timeoutMs / 1000} seconds.`,
        { cause: error },
      );
    });
  if (answer.status === 404)
    throw new Fault("missing", "not_found", `${what} does not exist at ${place.host}.`);
  if (answer.status !== 200)
    throw new Fault("unavailable", "tool_download", `${place.host} answered ${answer.status} for ${what}.`);
  return answer.body;
}
