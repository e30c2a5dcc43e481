/**
 * The content of a message: a text, or parts that may also be images, recordings and files. Each part is checked in the
 * caller's words and then said as the parts of the Responses format, which is where their rules are.
 */
import { Type } from "../../../kernel/kit.ts";
import { maybe } from "../parse/request.ts";
import { compile } from "../wire/check.ts";
import { invalid } from "../wire/refusal.ts";

/** As `content` and `output` of the Responses format have it. */
export type GivenContent = string | readonly object[];

const text = Type.String({ refusal: "must be a text" });
const TextPart = Type.Object({ type: Type.Literal("text"), text });
const RefusalPart = Type.Object({ type: Type.Literal("refusal"), refusal: text });

const address = Type.String({ minLength: 1, refusal: "must be a data URL or the address of an image" });
const ImagePart = Type.Object({
  type: Type.Literal("image_url"),
  image_url: Type.Object(
    { url: address, detail: maybe(Type.String({ maxLength: 16, refusal: "must be auto, low or high" })) },
    { refusal: "must be an object with a url" },
  ),
});

const AudioPart = Type.Object({
  type: Type.Literal("input_audio"),
  input_audio: Type.Object(
    {
      data: Type.String({ minLength: 1, refusal: "must be audio in base64" }),
      format: Type.Enum(["wav", "mp3"], { refusal: "must be wav or mp3" }),
    },
    { refusal: "must be an object with data and format" },
  ),
});

const FilePart = Type.Object({
  type: Type.Literal("file"),
  file: Type.Object(
    {
      file_data: maybe(Type.String({ minLength: 1, refusal: "must be a data URL" })),
      file_id: maybe(Type.String({ minLength: 1, refusal: "must be the id of an uploaded file" })),
      filename: maybe(Type.String({ maxLength: 255, refusal: "must be a name of at most 255 characters" })),
    },
    { refusal: "must be an object with file_data or file_id" },
  ),
});

/** What the assistant, the system and the developer say. */
export const Texts = Type.Union([Type.String(), Type.Array(Type.Union([TextPart, RefusalPart]))]);
/** What users say and tools answer. */
export const Content = Type.Union([
  Type.String(),
  Type.Array(Type.Union([TextPart, ImagePart, AudioPart, FilePart])),
]);

const checkPart = compile(
  Type.Object(
    { type: Type.String({ refusal: "must be the part's type" }) },
    { refusal: "must be a part with a type" },
  ),
);
const checkText = compile(TextPart);
const checkRefusal = compile(RefusalPart);
const checkImage = compile(ImagePart);
const checkAudio = compile(AudioPart);
const checkFile = compile(FilePart);

export function textsOf(value: unknown, at: string): string {
  if (typeof value === "string") return value;
  return listOf(value, at)
    .map((part, index) => textOf(part, `${at}[${index}]`))
    .join("\n");
}

function textOf(part: unknown, at: string): string {
  const { type } = checkPart(part, at);
  if (type === "text") return checkText(part, at).text;
  if (type === "refusal") return checkRefusal(part, at).refusal;
  throw unknownPart(at, "text or refusal");
}

export function contentOf(value: unknown, at: string): GivenContent {
  if (typeof value === "string") return value;
  return listOf(value, at).map((part, index) => partOf(part, `${at}[${index}]`));
}

function partOf(part: unknown, at: string): object {
  switch (checkPart(part, at).type) {
    case "text":
      return { type: "input_text", text: checkText(part, at).text };
    case "image_url": {
      const { url, detail } = checkImage(part, at).image_url;
      return { type: "input_image", image_url: url, ...(typeof detail === "string" && { detail }) };
    }
    case "input_audio":
      return { type: "input_audio", input_audio: checkAudio(part, at).input_audio };
    case "file":
      return { type: "input_file", ...checkFile(part, at).file };
    default:
      throw unknownPart(at, "text, image_url, input_audio or file");
  }
}

function listOf(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(at, "invalid_content", `"${at}" must be a text or an array of parts.`);
}

const unknownPart = (at: string, kinds: string) =>
  invalid(`${at}.type`, "invalid_type", `"${at}.type" must be ${kinds} here.`);
