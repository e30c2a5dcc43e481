/** Reads the attachments of a request into bytes that a turn can hold, or refuses them. */
import { hash, randomUUIDv7 } from "node:crypto";
import {
  type AttachedBytes,
  mimeOfName,
  sniff,
  sniffImage,
  textOfFile,
  UNKNOWN,
} from "../../../kernel/kit.ts";
import type { Attachment } from "../../../kernel/plugin.ts";
import type { GivenAttachment, GivenItem, KeptAttachment, SaidItem } from "../parse/items.ts";
import type { GivenBytes } from "../parse/open-items.ts";
import type { StoredFiles } from "../stored/files.ts";
import { invalid } from "../wire/refusal.ts";
import { type RemoteFiles, tooLarge } from "./remote-files.ts";

export interface AttachmentParts {
  readonly remote: Pick<RemoteFiles, "read">;
  readonly resolveFile: StoredFiles["resolveFile"];
}

interface ResolvedItems {
  readonly items: readonly SaidItem[];
  readonly attached: readonly AttachedBytes[];
}

const MAX_BYTES = 20 * 1024 * 1024;
const MAX_REMOTE = 8;
const MAX_ATTACHMENTS = 128;

/** The same bytes, URL or file have the same digest in every request; nothing is read to make it. */
export function digestOf({ kind, source }: GivenAttachment): string {
  const named = source.type === "data" ? source.data : source.type === "url" ? source.url : source.id;
  return hash("sha256", `${kind} ${source.type} ${hash("sha256", named)}`, "base64url");
}

export async function resolveAttachments(
  user: string,
  given: readonly GivenItem[],
  parts: AttachmentParts,
): Promise<ResolvedItems> {
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
    const id = randomUUIDv7();
    attached.push({ id, data });
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
    };
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
    items.push({ ...withTexts(rest, texts), attachments: kept } as SaidItem);
  }
  return { items, attached };
}

type Bare = Omit<Extract<GivenItem, { type: "message" | "function_call_output" }>, "attachments">;

function withTexts(item: object, texts: readonly string[]): object {
  const bare = item as Bare & { readonly text: string; readonly output: string };
  const join = (text: string) => [text, ...texts].filter((part) => part !== "").join("\n\n");
  return bare.type === "message"
    ? { ...bare, text: join(bare.text) }
    : { ...bare, output: join(bare.output) };
}

function typeOf(
  { kind, at }: GivenAttachment,
  said: string,
  name: string | undefined,
  data: Uint8Array,
): string {
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
export const plainAttachment = ({ id, kind, mime, size, name, detail }: KeptAttachment): Attachment => ({
  ...{ id, kind, mime, size, name, detail },
});
