/** The content of messages and outputs through the open door: words, and what comes beside them. */

import { type Declared, mimeOfName, Type } from "../../../kernel/kit.ts";
import { compile } from "../wire/check.ts";
import { invalid } from "../wire/refusal.ts";
import { isDataUrl, parseBase64, parseDataUrl } from "./data.ts";
import type { GivenAttachment } from "./items.ts";
import { maybe } from "./request.ts";

const words = maybe(Type.String({ refusal: "must be a text" }));
const short = maybe(Type.String({ maxLength: 512, refusal: "must be a text of at most 512 characters" }));

const Part = Type.Object(
  { type: Type.String({ maxLength: 64, refusal: "must be the part's type" }) },
  { refusal: "must be a part with a type" },
);
const TextPart = Type.Object({ text: Type.String({ refusal: "must be a text" }) });
const RefusalPart = Type.Object({ refusal: Type.String({ refusal: "must be a text" }) });
const ImagePart = Type.Object({
  image_url: maybe(
    Type.Union([Type.String(), Type.Object({ url: Type.String(), detail: short })], {
      refusal: "must be a data URL or an https URL",
    }),
  ),
  file_id: short,
  detail: short,
});
const FilePart = Type.Object({ file_data: words, file_url: words, file_id: short, filename: short });
const AudioPart = Type.Object({
  input_audio: Type.Object(
    {
      data: Type.String({ refusal: "must be base64 data" }),
      format: Type.Enum(["wav", "mp3"], { refusal: "must be wav or mp3" }),
    },
    { refusal: "must be an object with data and format" },
  ),
});

/** For the OpenAPI document. */
export const OpenContent = Type.Union([
  Type.String(),
  Type.Array(
    Type.Object({
      ...Part.properties,
      text: Type.Optional(Type.Unknown()),
      refusal: Type.Optional(Type.Unknown()),
      ...ImagePart.properties,
      ...FilePart.properties,
      input_audio: Type.Optional(AudioPart.properties.input_audio),
    }),
  ),
  Type.Null(),
]);

const checkPart = compile(Part);
const checkText = compile(TextPart);
const checkRefusal = compile(RefusalPart);
const checkImage = compile(ImagePart);
const checkFile = compile(FilePart);
const checkAudio = compile(AudioPart);

export interface Content {
  readonly text: string;
  readonly attachments?: readonly GivenAttachment[];
}

export function parseContent(value: unknown, at: string): Content {
  if (typeof value === "string") return { text: value };
  if (value === null) return { text: "" };
  if (!Array.isArray(value)) {
    const field = at.slice(at.lastIndexOf("../intake/open") + 1);
    throw invalid(at, `invalid_${field}`, `"${at}" must be a text or an array of parts.`);
  }
  const parts = value.map((part, index) => parsePart(part, `${at}[${index}]`));
  const attachments = parts.filter((part) => typeof part !== "string");
  const text = parts.filter((part) => typeof part === "string").join("\n");
  return { text, ...(attachments.length > 0 && { attachments }) };
}

const TEXTS: ReadonlySet<string> = new Set(["input_text", "output_text", "text", "summary_text"]);

function parsePart(value: unknown, at: string): string | GivenAttachment {
  const { type } = checkPart(value, at);
  if (TEXTS.has(type)) return checkText(value, at).text;
  if (type === "refusal") return checkRefusal(value, at).refusal;
  if (type === "input_image") return imageOf(checkImage(value, at), at);
  if (type === "input_file") return fileOf(checkFile(value, at), at);
  if (type === "input_audio") return audioOf(checkAudio(value, at), at);
  // Of anything else the model is told that it was there.
  return `[${type.replace(/^input_/, "")}]`;
}

function imageOf(part: Declared<typeof ImagePart>, at: string): GivenAttachment {
  const { image_url: given, file_id } = part;
  const url = typeof given === "string" ? given : given?.url;
  const detail = part.detail ?? (typeof given === "string" ? undefined : given?.detail);
  const rest = { kind: "image", ...(detail && { detail }) } as const;
  if (file_id) return { ...rest, source: { type: "file", id: file_id }, at: `${at}.file_id` };
  if (!url) throw needs(at, "image_url or file_id");
  return { ...rest, source: sourceOf(url, `${at}.image_url`), at: `${at}.image_url` };
}

function fileOf(part: Declared<typeof FilePart>, at: string): GivenAttachment {
  const { file_data, file_url, file_id, filename } = part;
  const rest = { kind: "file", ...(filename && { name: filename }) } as const;
  if (file_id) return { ...rest, source: { type: "file", id: file_id }, at: `${at}.file_id` };
  if (file_url) return { ...rest, source: sourceOf(file_url, `${at}.file_url`), at: `${at}.file_url` };
  if (!file_data) throw needs(at, "file_data, file_url or file_id");
  const place = `${at}.file_data`;
  const source = isDataUrl(file_data)
    ? sourceOf(file_data, place)
    : ({
        type: "data",
        mime: mimeOfName(filename ?? undefined),
        data: parseBase64(file_data, place),
      } as const);
  return { ...rest, source, at: place };
}

function audioOf({ input_audio: { data, format } }: Declared<typeof AudioPart>, at: string): GivenAttachment {
  const place = `${at}.input_audio.data`;
  const mime = format === "wav" ? "audio/wav" : "audio/mpeg";
  return { kind: "audio", source: { type: "data", mime, data: parseBase64(data, place) }, at: place };
}

const sourceOf = (url: string, at: string): GivenAttachment["source"] =>
  isDataUrl(url) ? { type: "data", ...parseDataUrl(url, at) } : { type: "url", url };

const needs = (at: string, what: string) => invalid(at, "invalid_content", `"${at}" needs ${what}.`);
