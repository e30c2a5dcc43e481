/** The memory documents of the caller, as resources to read. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { Fault } from "../../../kernel/plugin.ts";
import { mayUse } from "../parts.ts";
import type { Handlers } from "../protocol/handlers.ts";
import { pageOf } from "../protocol/paging.ts";
import type { CallParts } from "./tool-call.ts";

export interface ResourceParts extends Pick<CallParts, "memory" | "caller"> {
  /** The URIs that the client has subscribed to. */
  readonly subscribed: Set<string>;
}

// No authority: it would be taken for a host name and written in lower case.
const SCHEME = "memory:///";

const MAX_SUBSCRIPTIONS = 1000;

export const uriOf = (path: string): string => SCHEME + path.split("/").map(encodeURIComponent).join("/");

export function serveResources({ handle }: Handlers, { memory, caller, subscribed }: ResourceParts): void {
  const mayRead = mayUse(caller, "memory_read");

  handle("resources/list", async ({ params }) => {
    const documents = mayRead ? await memory.tree(caller.user) : [];
    const { page, next } = pageOf(documents, ({ path }) => path, params?.cursor);
    return {
      resources: page.map(({ path, bytes, updatedAt }) => ({
        uri: uriOf(path),
        name: path,
        mimeType: mimeOf(path),
        size: bytes,
        annotations: { lastModified: updatedAt },
      })),
      ...next,
    };
  });

  handle("resources/templates/list", async () => ({
    resourceTemplates: mayRead
      ? [
          {
            uriTemplate: `${SCHEME}{+path}`,
            name: "memory",
            title: "Memory document",
            description: "A document that the agent keeps for you, by its path",
          },
        ]
      : [],
  }));

  handle("resources/read", async ({ params: { uri } }) => {
    const path = pathIn(uri);
    const document = mayRead && path !== undefined ? await read(path) : undefined;
    if (document === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: mimeOf(document.path), text: document.text }] };
  });

  handle("resources/subscribe", async ({ params: { uri } }) => {
    if (subscribed.size >= MAX_SUBSCRIPTIONS)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `At most ${MAX_SUBSCRIPTIONS} subscriptions.`);
    if (pathIn(uri) === undefined) throw new ResourceNotFoundError(uri);
    subscribed.add(uri);
    return {};
  });

  handle("resources/unsubscribe", async ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });

  async function read(path: string) {
    try {
      return await memory.read(caller.user, path);
    } catch (error) {
      // An invalid path is one that does not exist.
      if (error instanceof Fault && error.kind === "invalid") return undefined;
      throw error;
    }
  }
}

function pathIn(uri: string): string | undefined {
  if (!uri.startsWith(SCHEME)) return undefined;
  try {
    return uri.slice(SCHEME.length).split("/").map(decodeURIComponent).join("/");
  } catch {
    return undefined;
  }
}

function mimeOf(path: string): string {
  return path.toLowerCase().endsWith(".md") ? "text/markdown" : "text/plain";
}
