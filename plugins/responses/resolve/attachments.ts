/** Reads the attachments of a request into bytes that a turn can hold, or refuses them. */
import { hash, randomUUIDv7 } from "node:crypto";
import {
  documentKind,
  imageProblem,
  isTextual,
  mimeOfName,
  sniff,
  sniffImage,
  UNKNOWN,
} from "../../../kernel/kit/files.ts";
import {
  createOutbound,
  hostAndPort,
  OutboundError,
  type PrivateHosts,
} from "../../../kernel/kit/outbound.ts";
import { type Attachment, Fault, reason } from "../../../kernel/plugin.ts";
import type { AttachedBytes, Attachments } from "../../agent/services.ts";
import type { GivenAttachment, GivenItem, KeptAttachment, SaidItem } from "../parse/items.ts";
import type { GivenBytes } from "../parse/open-items.ts";
import type { StoredFiles } from "../stored/files.ts";
import { invalid } from "../wire/refusal.ts";

export interface AttachmentParts {
  readonly remote: Pick<ReturnType<typeof createRemoteFiles>, "read">;
  readonly resolveFile: StoredFiles["resolveFile"];
  readonly textOf: Attachments["textOf"];
}

const MAX_BYTES = 20 * 1024 * 1024;
const MAX_REMOTE = 8;
const MAX_ATTACHMENTS = 128;
const TIMEOUT_MS = 10_000;
const MAX_URL_LENGTH = 8192;

/** The same bytes, URL or file have the same digest in every request; nothing is read to make it. */
export function digestOf({ kind, source }: GivenAttachment): string {
  const named = source.type === "data" ? source.data : source.type === "url" ? source.url : source.id;
  return hash("sha256", `${kind} ${source.type} ${hash("sha256", named)}`, "base64url");
}

export async function resolveAttachments(user: string, given: readonly GivenItem[], parts: AttachmentParts) {
  const attached: AttachedBytes[] = [];
  const count = { all: 0, remote: 0, bytes: 0 };

  async function bytesOf({ source, at }: GivenAttachment): Promise<GivenBytes & { name?: string }> {
    if (++count.all > MAX_ATTACHMENTS)
      throw invalid(at, "too_many_attachments", `A request may have ${MAX_ATTACHMENTS} attachments.`);
    if (source.type === "data") return source;
    if (source.type === "url") {
      if (++count.remote > MAX_REMOTE)
        throw invalid(at, "too_many_urls", `A request may have ${MAX_REMOTE} attachments by URL.`);
      return await parts.remote.read(source.url, MAX_BYTES - count.bytes, at);
    }
    const file = await parts.resolveFile(user, source.id);
    if (file) return file;
    throw invalid(at, "file_not_found", `"${at}": you have no file with this id. Upload it first.`);
  }

  /** A text file becomes part of the message. */
  async function resolveOne(one: GivenAttachment): Promise<KeptAttachment | string> {
    const { mime: said, data, name: known } = await bytesOf(one);
    count.bytes += data.length;
    if (count.bytes > MAX_BYTES) throw tooLarge(one.at);
    const name = one.name ?? known;
    const mime = typeOf(one, said, name, data);
    const text = one.kind === "file" ? textOfFile(mime, data) : undefined;
    if (text !== undefined) return `<file name=${JSON.stringify(name ?? "file")}>\n${text}\n</file>`;
    const said8 = await documentOf(one, name ?? "file", data);
    const id = randomUUIDv7();
    attached.push({ id, data, ...(said8 && { text: said8 }) });
    const { kind, detail, source } = one;
    return {
      id,
      kind: kind === "file" && sniffImage(data) !== undefined ? "image" : kind,
      mime,
      size: data.length,
      name,
      detail,
      digest: digestOf(one),
      url: source.type === "url" ? source.url : undefined,
      file: source.type === "file" ? source.id : undefined,
      text: said8 && { bytes: said8.byteLength },
    };
  }

  /** What a document says that no provider takes: unlike an image or a PDF, a model reads its text alone. */
  async function documentOf({ kind, at }: GivenAttachment, name: string, data: Uint8Array) {
    const found = kind === "file" ? documentKind(name, data) : undefined;
    if (found !== "archive" && found !== "mail") return undefined;
    try {
      return Buffer.from(await parts.textOf(user, { name, data }));
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== "invalid") throw error;
      throw invalid(at, error.code, error.message);
    }
  }

  const items: SaidItem[] = [];
  // One after another, so that the limit holds for what is read.
  for (const item of given) {
    if (!("attachments" in item) || !item.attachments?.length) {
      items.push(item as SaidItem);
      continue;
    }
    const { attachments: all, ...rest } = item;
    const found: (KeptAttachment | string)[] = [];
    for (const one of all) found.push(await resolveOne(one));
    const texts = found.filter((one) => typeof one === "string");
    const attachments = found.filter((one) => typeof one !== "string");
    const kept = attachments.length > 0 ? attachments : undefined;
    items.push({ ...addTexts(rest, texts, "\n\n"), attachments: kept });
  }
  return { items, attached };
}

type Texted =
  | { readonly type: "message"; readonly text: string }
  | { readonly type: "function_call_output"; readonly output: string };

export function addTexts<Item extends Texted>(item: Item, texts: readonly string[], separator: string): Item {
  const join = (text: string) => [text, ...texts].filter((part) => part !== "").join(separator);
  return item.type === "message"
    ? { ...item, text: join(item.text) }
    : { ...item, output: join(item.output) };
}

function typeOf(
  { kind, at }: GivenAttachment,
  said: string,
  name: string | undefined,
  data: Uint8Array,
): string {
  const problem = imageProblem(data);
  if (problem !== undefined) throw invalid(at, "image_too_large", `"${at}" ${problem}.`);
  if (kind === "image") {
    const image = sniffImage(data);
    if (image !== undefined) return image;
    throw invalid(at, "invalid_image", `"${at}" must be a PNG, JPEG, GIF or WebP image.`);
  }
  if (kind === "audio") return said;
  const seen = sniff(data);
  if (seen !== undefined) return seen;
  return said === "" || said === UNKNOWN ? mimeOfName(name) : said;
}

/** The agent keeps fewer fields. */
export const plainAttachment = ({
  id,
  kind,
  mime,
  size,
  name,
  detail,
  text,
}: KeptAttachment): Attachment => ({
  ...{ id, kind, mime, size, name, detail, text },
});

/** Reads files by URL. A stranger chose it, so only public addresses are dialled, and no redirect is followed. */
export function createRemoteFiles(privateHosts: PrivateHosts = new Set()) {
  const outbound = createOutbound({ privateHosts });

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
    /** Throws a refusal when the file cannot be read, or has more than `maxBytes`. */
    async read(text: string, maxBytes: number, at: string): Promise<GivenBytes> {
      const url = parse(text, at);
      const reply = await outbound
        .send({ url, headers: { accept: "*/*" }, timeoutMs: TIMEOUT_MS, maxBytes })
        .catch((error: unknown) => {
          const kind = error instanceof OutboundError ? error.kind : undefined;
          if (kind === "size") throw tooLarge(at);
          const why = kind === "timeout" ? "it took longer than 10 s" : reason(error).replace(/\.$/, "");
          throw refused(at, why);
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

const tooLarge = (at: string) =>
  invalid(at, "attachments_too_large", `"${at}" is too large: all attachments of a request may have 20 MiB.`);

/** The text of a file that is one: a model reads it as it is. */
function textOfFile(mime: string, data: Uint8Array): string | undefined {
  if (!isTextual(mime)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}
