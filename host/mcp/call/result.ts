/** Turns a server's answer into an outcome: text, data and images, and a note for everything else. Capped, and without known secrets. */
import { randomUUID } from "node:crypto";
import { sniffImage } from "../../../kernel/kit/files.ts";
import { withoutHidden } from "../../../kernel/kit/text.ts";
import type { Mask } from "../../../kernel/plugin.ts";
import type { CallOutcome } from "../../services.ts";
import type { CallAnswer } from "../session/session.ts";
import { isShallow } from "../tools/definition.ts";

type Result = Extract<CallAnswer, { type: "result" }>;
type Ended = Extract<CallOutcome, { status: "ok" | "error" }>;
type Attached = NonNullable<Extract<CallOutcome, { status: "ok" }>["attached"]>[number];

const MAX_OUTPUT_LENGTH = 1 << 20;
const MAX_PARTS = 1000;
const MAX_IMAGES = 8;
const MAX_DEPTH = 64;

/** `mistakes`: where its data does not match the tool's own output schema. */
export function toOutcome(
  { content, structured, isError }: Result,
  mistakes: readonly string[],
  { hide }: Pick<Mask, "hide">,
): Ended {
  const parts = content.slice(0, MAX_PARTS).map((part) => readPart(part as Part));
  if (content.length > MAX_PARTS) parts.push({ text: `[${content.length - MAX_PARTS} more parts left out]` });
  const texts = parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const data = structured === undefined ? undefined : cleanData(structured, hide);
  if (texts.length === 0 && data !== undefined) texts.push(JSON.stringify(data));
  const output = clip(hide(withoutHidden(texts.join("\n\n"))));
  if (isError)
    return { status: "error", code: "tool_error", message: output || "The server says it failed." };
  if (mistakes.length > 0)
    return {
      status: "error",
      code: "bad_response",
      message: `The server's answer does not match the tool's own output schema: ${clip(hide(mistakes.join("; "))).slice(0, 2000)}`,
    };
  const images = parts.flatMap(({ image }) => (image === undefined ? [] : [image]));
  const attached = images.slice(0, MAX_IMAGES);
  const more = images.length - attached.length;
  return {
    status: "ok",
    output: more > 0 ? `${output}\n\n[${more} more images left out]` : output,
    attached: attached.length > 0 ? attached : undefined,
    structured: data,
  };
}

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly resource?: Part | undefined;
}

function readPart(part: Part): { readonly text?: string; readonly image?: Attached } {
  switch (part.type) {
    case "text":
      return { text: String(part.text ?? "") };
    case "image":
      return readImage(part);
    case "audio":
      return { text: `[audio, ${word(part.mimeType)}, ${sizeOf(part.data)}: not shown]` };
    case "resource_link": {
      const what = [part.title ?? part.name, part.description].filter((text) => text !== undefined);
      return { text: `[link to the resource ${word(part.uri)}: ${what.map(word).join(", ")}]` };
    }
    case "resource": {
      const { uri, text, mimeType } = part.resource ?? {};
      const where = `[the resource ${word(uri)}, ${word(mimeType)}]`;
      return { text: typeof text === "string" ? `${where}\n${text}` : `${where}: not shown` };
    }
    default:
      return { text: `[a part of the kind ${word(part.type)}: not shown]` };
  }
}

function readImage({ data, mimeType }: Part): { readonly text?: string; readonly image?: Attached } {
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : Buffer.alloc(0);
  // Its bytes decide: a page or a drawing with scripts may be called an image too.
  const mime = sniffImage(bytes);
  if (mime === undefined) return { text: `[an image, ${word(mimeType)}, ${sizeOf(data)}: not shown]` };
  const attachment = { id: randomUUID(), kind: "image" as const, mime, size: bytes.length };
  return { text: `[an image, ${mime}, ${bytes.length} bytes]`, image: { attachment, data: bytes } };
}

function cleanData(structured: unknown, hide: Mask["hide"]): unknown {
  if (!isShallow(structured, MAX_DEPTH)) return undefined;
  const text = JSON.stringify(structured);
  const hidden = hide(text);
  if (hidden === text) return structured;
  try {
    return JSON.parse(hidden);
  } catch {
    return undefined;
  }
}

function word(value: unknown): string {
  return withoutHidden(String(value ?? "unknown"))
    .replace(/\s+/g, " ")
    .slice(0, 300);
}

function sizeOf(data: unknown): string {
  return `${typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0} bytes`;
}

function clip(text: string): string {
  if (text.length <= MAX_OUTPUT_LENGTH) return text;
  const left = text.length - MAX_OUTPUT_LENGTH;
  return `${text.slice(0, MAX_OUTPUT_LENGTH)}\n[… ${left} characters left out …]`.toWellFormed();
}
