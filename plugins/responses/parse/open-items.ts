/** The items of `input` in the open dialect: everything that clients send, each kept, converted or skipped. */
import { mimeOfName } from "../../../kernel/kit/files.ts";
import { type Declared, maybe, Type } from "../../../kernel/kit/schema.ts";
import type { WireTool } from "../wire/format.ts";
import { compile, invalid } from "../wire/refusal.ts";
import { customParams, offeredName } from "../wire/tool-names.ts";
import {
  CallId,
  type GivenAttachment,
  type InputItem,
  parseReference,
  Reference,
  Role,
  typeOf,
} from "./items.ts";
import { words } from "./request.ts";

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
const OpenContent = Type.Union([
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

const name = Type.String({ minLength: 1, maxLength: 128, refusal: "must be the tool's name" });
const namespace = maybe(Type.String({ maxLength: 128, refusal: "must be a namespace's name" }));

const Message = Type.Object({ role: Role, content: Type.Unknown() });
const FunctionCall = Type.Object({
  call_id: CallId,
  name,
  namespace,
  arguments: Type.String({ refusal: "must be a JSON text" }),
});
const CustomCall = Type.Object({
  call_id: CallId,
  name,
  namespace,
  input: Type.String({ refusal: "must be a text" }),
});
const CallOutput = Type.Object({ call_id: CallId, output: Type.Unknown() });
const Sealed = Type.Object({ encrypted_content: words });

/** Records of tools that others run, which no turn here can use; and tools, which are read with those of the request. */
const SKIPPED: ReadonlySet<string> = new Set([
  "additional_tools",
  "apply_patch_call",
  "apply_patch_call_output",
  "code_interpreter_call",
  "compaction_trigger",
  "computer_call",
  "computer_call_output",
  "configuration_update",
  "file_search_call",
  "image_generation_call",
  "local_shell_call",
  "local_shell_call_output",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_call",
  "mcp_list_tools",
  "program",
  "program_output",
  "shell_call",
  "shell_call_output",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
]);

/** For the OpenAPI document. */
export const OpenItem = Type.Union(
  [
    Type.Object({ type: Type.Optional(Type.Literal("message")), role: Role, content: OpenContent }),
    Type.Object({ type: Type.Literal("function_call"), ...FunctionCall.properties }),
    Type.Object({ type: Type.Literal("custom_tool_call"), ...CustomCall.properties }),
    Type.Object({
      type: Type.Enum(["function_call_output", "custom_tool_call_output"]),
      call_id: CallId,
      output: OpenContent,
    }),
    Type.Object({ type: Type.Optional(Type.Literal("item_reference")), ...Reference.properties }),
    Type.Object({ type: Type.Enum(["reasoning", "compaction"]), ...Sealed.properties }),
    Type.Object({ type: Type.Enum([...SKIPPED], { description: "Skipped" }) }),
  ],
  { $id: "OpenResponseInputItem" },
);

const checkMessage = compile(Message);
const checkCall = compile(FunctionCall);
const checkCustom = compile(CustomCall);
const checkOutput = compile(CallOutput);
const checkSealed = compile(Sealed);

/** Earlier calls in the input name the tools as the caller does; `tools` translates them. */
export function parseOpenItem(value: unknown, at: string, tools: readonly WireTool[]): InputItem {
  const type = typeOf(value, at);
  const callName = (given: { readonly name: string; readonly namespace?: string | null }): string => {
    const namespace = given.namespace ?? undefined;
    const known = offeredName(tools, { name: given.name, namespace });
    return known ?? (namespace === undefined ? given.name : `${namespace}__${given.name}`);
  };
  switch (type) {
    case "message": {
      const { role, content } = checkMessage(value, at);
      return { type: "message", role, ...parseContent(content, `${at}.content`) };
    }
    case "function_call": {
      const call = checkCall(value, at);
      return { type: "function_call", call: call.call_id, name: callName(call), params: call.arguments };
    }
    case "custom_tool_call": {
      const call = checkCustom(value, at);
      const params = customParams(call.input);
      return { type: "function_call", call: call.call_id, name: callName(call), params };
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const { call_id, output } = checkOutput(value, at);
      const { text, attachments } = parseContent(output, `${at}.output`);
      return { type: "function_call_output", call: call_id, output: text, attachments };
    }
    case "item_reference":
      return parseReference(value, at);
    case "reasoning":
    case "compaction": {
      const { encrypted_content } = checkSealed(value, at);
      if (!encrypted_content) return { type: "skipped" };
      const holds = type === "reasoning" ? "reasoning" : "summary";
      return { type: "sealed", holds, sealed: encrypted_content };
    }
    default:
      if (typeof type === "string" && SKIPPED.has(type)) return { type: "skipped" };
      throw invalid(
        `${at}.type`,
        "invalid_type",
        `"${at}.type" must be the type of an input item, such as message, function_call or function_call_output.`,
      );
  }
}

const checkPart = compile(Part);
const checkText = compile(TextPart);
const checkRefusal = compile(RefusalPart);
const checkImage = compile(ImagePart);
const checkFile = compile(FilePart);
const checkAudio = compile(AudioPart);

interface Content {
  readonly text: string;
  readonly attachments?: readonly GivenAttachment[];
}

function parseContent(value: unknown, at: string): Content {
  if (typeof value === "string") return { text: value };
  if (value === null) return { text: "" };
  if (!Array.isArray(value)) {
    const field = at.slice(at.lastIndexOf(".") + 1);
    throw invalid(at, `invalid_${field}`, `"${at}" must be a text or an array of parts.`);
  }
  const parts = value.map((part, index) => parsePart(part, `${at}[${index}]`));
  const attachments = parts.filter((part) => typeof part !== "string");
  const text = parts.filter((part) => typeof part === "string").join("\n");
  return { text, attachments: attachments.length > 0 ? attachments : undefined };
}

const TEXTS: ReadonlySet<string> = new Set(["input_text", "output_text", "text", "summary_text"]);

function parsePart(value: unknown, at: string): string | GivenAttachment {
  const { type } = checkPart(value, at);
  if (TEXTS.has(type)) return checkText(value, at).text;
  if (type === "refusal") return checkRefusal(value, at).refusal;
  if (type === "input_image") return imageOf(checkImage(value, at), at);
  if (type === "input_file") return fileOf(checkFile(value, at), at);
  if (type === "input_audio") return audioOf(checkAudio(value, at), at);
  // The model is told that something else was there.
  return `[${type.replace(/^input_/, "")}]`;
}

function imageOf(part: Declared<typeof ImagePart>, at: string): GivenAttachment {
  const { image_url: given, file_id } = part;
  const url = typeof given === "string" ? given : given?.url;
  const detail = part.detail ?? (typeof given === "string" ? undefined : given?.detail);
  const rest = { kind: "image", detail: detail || undefined } as const;
  if (file_id) return { ...rest, source: { type: "file", id: file_id }, at: `${at}.file_id` };
  if (!url) throw needs(at, "image_url or file_id");
  return { ...rest, source: sourceOf(url, `${at}.image_url`), at: `${at}.image_url` };
}

function fileOf(part: Declared<typeof FilePart>, at: string): GivenAttachment {
  const { file_data, file_url, file_id, filename } = part;
  const rest = { kind: "file", name: filename || undefined } as const;
  if (file_id) return { ...rest, source: { type: "file", id: file_id }, at: `${at}.file_id` };
  if (file_url) return { ...rest, source: sourceOf(file_url, `${at}.file_url`), at: `${at}.file_url` };
  if (!file_data) throw needs(at, "file_data, file_url or file_id");
  const place = `${at}.file_data`;
  if (isDataUrl(file_data)) return { ...rest, source: sourceOf(file_data, place), at: place };
  const mime = mimeOfName(filename ?? undefined);
  return { ...rest, source: { type: "data", mime, data: parseBase64(file_data, place) }, at: place };
}

function audioOf({ input_audio: { data, format } }: Declared<typeof AudioPart>, at: string): GivenAttachment {
  const place = `${at}.input_audio.data`;
  const mime = format === "wav" ? "audio/wav" : "audio/mpeg";
  return { kind: "audio", source: { type: "data", mime, data: parseBase64(data, place) }, at: place };
}

const sourceOf = (url: string, at: string): GivenAttachment["source"] =>
  isDataUrl(url) ? { type: "data", ...parseDataUrl(url, at) } : { type: "url", url };

const needs = (at: string, what: string) => invalid(at, "invalid_content", `"${at}" needs ${what}.`);

export interface GivenBytes {
  /** Lower case, without parameters; empty when none was given. */
  readonly mime: string;
  readonly data: Uint8Array;
}

const HEAD = /^data:([\w.+-]{1,64}\/[\w.+-]{1,64})?((?:;[\w.-]{1,64}=[^;,\s]{0,128}){0,8});base64,/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const isDataUrl = (text: string): boolean => /^data:/i.test(text);

function parseDataUrl(text: string, at: string): GivenBytes {
  // The pattern reads only the beginning: the data may be megabytes.
  const [head, mime = ""] = HEAD.exec(text.slice(0, 2048)) ?? [];
  if (head === undefined)
    throw invalid(at, "invalid_data_url", `"${at}" must be a data URL with a type and base64 data.`);
  return { mime: mime.toLowerCase(), data: parseBase64(text.slice(head.length), at) };
}

function parseBase64(text: string, at: string): Uint8Array {
  if (text.length % 4 !== 0 || !BASE64.test(text))
    throw invalid(at, "invalid_base64", `"${at}" must hold base64 data.`);
  return Buffer.from(text, "base64");
}
