/** Reads attachments by URL. A stranger chose it, so only public addresses are dialled, and no redirect is followed. */
import { Agent, request } from "undici";
import { createConnector, hostAndPort, type Lookup, type PrivateHosts, reason } from "../../../kernel/kit.ts";
import type { GivenBytes } from "../parse/open-items.ts";
import { invalid } from "../wire/refusal.ts";

export interface RemoteFiles {
  /** Throws a refusal when the file cannot be read, or has more than `maxBytes`. */
  read(url: string, maxBytes: number, at: string): Promise<GivenBytes>;
  close(): Promise<void>;
}

interface RemoteOptions {
  readonly privateHosts: PrivateHosts;
  readonly lookup?: Lookup;
}

const TIMEOUT_MS = 10_000;
const MAX_URL_LENGTH = 8192;

export function createRemoteFiles({ privateHosts, lookup }: RemoteOptions): RemoteFiles {
  const agent = new Agent({
    connect: createConnector({ privateHosts, lookup, timeout: TIMEOUT_MS }),
    maxHeaderSize: 16 * 1024,
  });

  function parse(text: string, at: string): URL {
    const url = text.length > MAX_URL_LENGTH ? null : URL.parse(text);
    const isException = url !== null && privateHosts.has(hostAndPort(url));
    const isAllowed =
      url !== null &&
      url.username === "" &&
      url.password === "" &&
      (isException || (url.protocol === "https:" && url.port === ""));
    if (isAllowed) return url;
    throw refused(at, "only data URLs and https URLs of the usual port can be read");
  }

  return {
    async read(text, maxBytes, at) {
      const url = parse(text, at);
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const answer = await request(url, { dispatcher: agent, signal, headers: { accept: "*/*" } });
        const { statusCode, headers, body } = answer;
        // A body that is thrown away emits an error, which would end the process without a listener.
        body.on("error", () => {});
        if (statusCode !== 200) {
          body.destroy();
          throw refused(at, `the server answered ${statusCode}; redirects are not followed`);
        }
        const chunks: Uint8Array[] = [];
        let size = 0;
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          size += chunk.length;
          if (size > maxBytes) {
            body.destroy();
            throw tooLarge(at);
          }
          chunks.push(chunk);
        }
        const [mime = ""] = String(headers["content-type"] ?? "").split(";");
        return { mime: mime.trim().toLowerCase(), data: Buffer.concat(chunks) };
      } catch (error) {
        if (error instanceof Error && "kind" in error) throw error;
        throw refused(at, signal.aborted ? "it took longer than 10 s" : reason(error));
      }
    },
    close: () => agent.destroy(),
  };
}

const refused = (at: string, why: string) =>
  invalid(at, "url_not_readable", `"${at}" could not be read: ${why}. Send the data in the request instead.`);

export const tooLarge = (at: string) =>
  invalid(at, "attachments_too_large", `"${at}" is too large: all attachments of a request may have 20 MiB.`);
