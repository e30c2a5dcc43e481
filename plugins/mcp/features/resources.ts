/** The memory documents and files of the caller as resources, and the operator's skills as prompts to begin a conversation with. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { Fault } from "../../../kernel/plugin.ts";
import { mayUse } from "../parts.ts";
import type { Handlers } from "../protocol/handlers.ts";
import { pageOf } from "../protocol/pages.ts";
import type { CallParts } from "./tool-call.ts";
import { FILE_TEMPLATE, filePath, isFileCursor, listFiles, readFile } from "./workspace-files.ts";

interface ResourceParts extends Pick<CallParts, "memory" | "workspace" | "caller"> {
  /** The URIs that the client has subscribed to. */
  readonly subscribed: Set<string>;
}

// No authority: it would be taken for a host name and written in lower case.
const SCHEME = "memory:///";

const TEMPLATE = {
  uriTemplate: `${SCHEME}{+path}`,
  name: "memory",
  title: "Memory document",
  description: "A document that the agent keeps for you, by its path",
};

const MAX_SUBSCRIPTIONS = 1000;

export const uriOf = (path: string): string => SCHEME + path.split("/").map(encodeURIComponent).join("/");

export function serveResources(
  { handle }: Handlers,
  { memory, workspace, caller, subscribed }: ResourceParts,
): void {
  const mayRead = mayUse(caller, "memory_read");
  const files = mayUse(caller, "workspace_read") ? workspace : undefined;

  handle("resources/list", async ({ params }) => {
    if (files && isFileCursor(params?.cursor)) {
      const { resources, next } = await listFiles(files, caller.user, params.cursor);
      return { resources: [...resources], ...next };
    }
    const documents = mayRead ? await memory.tree(caller.user) : [];
    const { page, next } = pageOf(documents, ({ path }) => path, params?.cursor);
    const resources = page.map(({ path, bytes, updatedAt }) => ({
      uri: uriOf(path),
      name: path,
      mimeType: mimeOf(path),
      size: bytes,
      annotations: { lastModified: updatedAt },
    }));
    // The files follow the last of the documents.
    const more = next.nextCursor === undefined && files ? await listFiles(files, caller.user) : undefined;
    return { resources: [...resources, ...(more?.resources ?? [])], ...(more?.next ?? next) };
  });

  handle("resources/templates/list", async () => ({
    resourceTemplates: [...(mayRead ? [TEMPLATE] : []), ...(files ? [FILE_TEMPLATE] : [])],
  }));

  handle("resources/read", async ({ params: { uri } }) => {
    const file = filePath(uri);
    if (files && file !== undefined) {
      const content = await readFile(files, caller.user, uri, file);
      if (content === undefined) throw new ResourceNotFoundError(uri);
      return { contents: [content] };
    }
    const path = pathIn(uri);
    const document = mayRead && path !== undefined ? await read(path) : undefined;
    if (document === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: mimeOf(document.path), text: document.text }] };
  });

  handle("resources/subscribe", async ({ params: { uri } }) => {
    if (subscribed.size >= MAX_SUBSCRIPTIONS)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `At most ${MAX_SUBSCRIPTIONS} subscriptions.`);
    if ((pathIn(uri) ?? filePath(uri)) === undefined) throw new ResourceNotFoundError(uri);
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

export function servePrompts(
  { handle }: Handlers,
  { skills, caller }: Pick<CallParts, "skills" | "caller">,
): void {
  const mayRead = mayUse(caller, "skill_load");

  handle("prompts/list", async ({ params }) => {
    const { page, next } = pageOf(mayRead ? await skills.list() : [], ({ name }) => name, params?.cursor);
    return { prompts: page.map(({ name, description }) => ({ name, description })), ...next };
  });

  handle("prompts/get", async ({ params: { name } }) => {
    const skill = mayRead ? await skills.read(name) : undefined;
    if (skill === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name}".`);
    return {
      description: skill.description,
      messages: [{ role: "user", content: { type: "text", text: skill.text } }],
    };
  });
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
