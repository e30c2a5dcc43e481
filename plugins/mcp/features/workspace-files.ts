/** The files of the caller's workspace as resources: `workspace:///reports/may.csv`. */
import { ProtocolError, ProtocolErrorCode, type Resource } from "@modelcontextprotocol/server";
import { isTextual } from "../../../kernel/kit/files.ts";
import { tryUtf8 } from "../../../kernel/kit/text.ts";
import { Fault, type Services } from "../../../kernel/plugin.ts";
import type { WorkspaceEntry } from "../../workspace/services.ts";
import { cursorOf, keysIn, PAGE_SIZE } from "../protocol/pages.ts";

const SCHEME = "workspace:///";
/** A resource is one message, which the client holds as a whole. */
const MAX_RESOURCE_BYTES = 5_000_000;

export const FILE_TEMPLATE = {
  uriTemplate: `${SCHEME}{+path}`,
  name: "workspace",
  title: "Workspace file",
  description: "A file of your workspace, by its path",
};

export const fileUri = (path: string): string =>
  SCHEME + path.replace(/^\//, "").split("/").map(encodeURIComponent).join("/");

/** Undefined for a URI of another kind. */
export function filePath(uri: string): string | undefined {
  if (!uri.startsWith(SCHEME)) return undefined;
  try {
    const path = uri.slice(SCHEME.length).split("/").map(decodeURIComponent).join("/");
    return /^[^/]+:\//.test(path) ? path : `/${path}`;
  } catch {
    return undefined;
  }
}

/** True for a cursor that `listFiles` gave. */
export const isFileCursor = (cursor: string | undefined): cursor is string =>
  cursor !== undefined && keysIn(cursor).length === 2;

/** The user's own workspace first, then those with a name. A page may have only folders in it, and then has no resources. */
export async function listFiles(
  workspace: Services["workspace"],
  user: string,
  cursor?: string,
): Promise<{ readonly resources: readonly Resource[]; readonly next: { readonly nextCursor?: string } }> {
  const [root = "/", after = ""] = cursor === undefined ? [] : keysIn(cursor);
  const { items, next } = await workspace.list(user, root, {
    ...{ deep: true, limit: PAGE_SIZE },
    ...(after !== "" && { after }),
  });
  const resources = items.filter(({ kind }) => kind === "file").map(describe);
  const going = next === undefined ? await nextRoot(workspace, user, root) : [root, next];
  return { resources, next: going ? { nextCursor: cursorOf(...going) } : {} };
}

async function nextRoot(
  workspace: Services["workspace"],
  user: string,
  root: string,
): Promise<readonly string[] | undefined> {
  const named = (await workspace.roots(user)).filter(({ kind }) => kind === "named");
  const roots = ["/", ...named.map(({ name }) => `${name}:/`)];
  const next = roots[roots.indexOf(root) + 1];
  return next === undefined || !roots.includes(root) ? undefined : [next, ""];
}

function describe({ path, mime, bytes, updatedAt }: WorkspaceEntry): Resource {
  return {
    uri: fileUri(path),
    name: path,
    mimeType: mime,
    size: bytes,
    annotations: { lastModified: updatedAt },
  };
}

/** Undefined where there is no such file. */
export async function readFile(workspace: Services["workspace"], user: string, uri: string, path: string) {
  try {
    const entry = await workspace.find(user, path);
    if (entry?.kind !== "file") return undefined;
    if (entry.bytes > MAX_RESOURCE_BYTES)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `${path} has ${entry.bytes} bytes, and a resource may have at most ${MAX_RESOURCE_BYTES}. Download it from the page.`,
      );
    const found = await workspace.read(user, path, { version: entry.version });
    return found && { uri, mimeType: entry.mime, ...contentOf(entry.mime, found.data) };
  } catch (error) {
    // An invalid path is one that does not exist.
    if (error instanceof Fault && error.kind === "invalid") return undefined;
    throw error;
  }
}

function contentOf(mime: string, data: Uint8Array): { readonly text: string } | { readonly blob: string } {
  const text = isTextual(mime) ? tryUtf8(data, true) : undefined;
  return text === undefined ? { blob: Buffer.from(data).toString("base64") } : { text };
}
