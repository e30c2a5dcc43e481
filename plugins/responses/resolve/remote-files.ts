/** Reads attachments by URL. A stranger chose it, so only public addresses are dialled, and no redirect is followed. */
import {
  createOutbound,
  hostAndPort,
  type Lookup,
  OutboundError,
  type PrivateHosts,
  reason,
} from "../../../kernel/kit.ts";
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
  const outbound = createOutbound({ privateHosts, lookup });

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
      const headers = { accept: "*/*" };
      const reply = await outbound
        .send({ url, headers, timeoutMs: TIMEOUT_MS, maxBytes })
        .catch((error: unknown) => {
          const kind = error instanceof OutboundError ? error.kind : undefined;
          if (kind === "size") throw tooLarge(at);
          throw refused(
            at,
            kind === "timeout" ? "it took longer than 10 s" : reason(error).replace(/\.$/, ""),
          );
        });
      if (reply.status !== 200)
        throw refused(at, `the server answered ${reply.status}; redirects are not followed`);
      const [mime = ""] = String(reply.headers["content-type"] ?? "").split(";");
      return { mime: mime.trim().toLowerCase(), data: reply.body };
    },
    close: outbound.close,
  };
}

const refused = (at: string, why: string) =>
  invalid(at, "url_not_readable", `"${at}" could not be read: ${why}. Send the data in the request instead.`);

export const tooLarge = (at: string) =>
  invalid(at, "attachments_too_large", `"${at}" is too large: all attachments of a request may have 20 MiB.`);
