/** The messages of a chat as the items of the Responses format. The rules of a whole conversation are checked here. */
import { maybe, Type } from "../../../kernel/kit/schema.ts";
import { MAX_ITEMS, tooManyItems } from "../parse/items.ts";
import { compile, invalid } from "../wire/refusal.ts";
import { customParams } from "../wire/tool-names.ts";

type GivenContent = string | readonly object[];

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

/** The content of the assistant, the system and the developer. */
const Texts = Type.Union([Type.String(), Type.Array(Type.Union([TextPart, RefusalPart]))]);
/** The content of users and tools. */
const Content = Type.Union([
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

function textsOf(value: unknown, at: string): string {
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

function contentOf(value: unknown, at: string): GivenContent {
  if (typeof value === "string") return value;
  return listOf(value, at).map((part, index) => partOf(part, `${at}[${index}]`));
}

function partOf(part: unknown, at: string): object {
  switch (checkPart(part, at).type) {
    case "text":
      return { type: "input_text", text: checkText(part, at).text };
    case "image_url": {
      const { url, detail } = checkImage(part, at).image_url;
      return { type: "input_image", image_url: url, detail: detail ?? undefined };
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

interface Conversation {
  /** System and developer messages before all others. */
  readonly instructions: string | undefined;
  readonly items: readonly PlacedItem[];
}

interface PlacedItem {
  /** The message of the item, such as `messages[3]`. */
  readonly at: string;
  readonly item: GivenItem;
}

type GivenItem =
  | { readonly type: "message"; readonly role: string; readonly content: GivenContent }
  | {
      readonly type: "function_call";
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly type: "function_call_output"; readonly call_id: string; readonly output: GivenContent };
type Called = Extract<GivenItem, { type: "function_call" }>;

const CallId = Type.String({
  minLength: 1,
  maxLength: 256,
  refusal: "must be the id of a tool call: 1 to 256 characters",
});
const Name = Type.String({ minLength: 1, maxLength: 128, refusal: "must be a name of 1 to 128 characters" });
const FunctionCall = Type.Object(
  { name: Name, arguments: Type.String({ refusal: "must be a JSON text" }) },
  { refusal: "must be an object with name and arguments" },
);
const CustomCall = Type.Object(
  { name: Name, input: Type.String({ refusal: "must be a text" }) },
  { refusal: "must be an object with name and input" },
);
const ToolCall = Type.Union([
  Type.Object({ id: CallId, type: Type.Literal("function"), function: FunctionCall }),
  Type.Object({ id: CallId, type: Type.Literal("custom"), custom: CustomCall }),
]);

const assistant = {
  role: Type.Literal("assistant"),
  refusal: maybe(Type.String({ refusal: "must be a text" })),
  function_call: maybe(FunctionCall),
};
const tool = { role: Type.Literal("tool"), tool_call_id: CallId };
const legacy = { role: Type.Literal("function"), name: Name };

export const Message = Type.Union(
  [
    Type.Object({ role: Type.Enum(["system", "developer"]), content: Texts }),
    Type.Object({ role: Type.Literal("user"), content: Content }),
    Type.Object({
      ...assistant,
      content: maybe(Texts),
      tool_calls: maybe(Type.Array(ToolCall, { maxItems: 128 })),
    }),
    Type.Object({ ...tool, content: maybe(Content) }),
    Type.Object({ ...legacy, content: maybe(Texts) }),
  ],
  { $id: "ChatMessage" },
);

const checkRole = compile(
  Type.Object(
    {
      role: Type.Enum(["system", "developer", "user", "assistant", "tool", "function"], {
        refusal: "must be system, developer, user, assistant, tool or function",
      }),
      content: Type.Optional(Type.Unknown()),
    },
    { refusal: "must be a message: an object with role and content" },
  ),
);
const checkAssistant = compile(
  Type.Object({
    ...assistant,
    tool_calls: maybe(
      Type.Array(Type.Unknown(), { maxItems: 128, refusal: "must be an array of at most 128 calls" }),
    ),
  }),
);
const checkTool = compile(Type.Object(tool));
const checkLegacy = compile(Type.Object(legacy));
const checkCall = compile(
  Type.Object(
    {
      id: CallId,
      type: maybe(Type.Enum(["function", "custom"], { refusal: "must be function or custom" })),
    },
    { refusal: "must be a tool call: an object with id, type and function or custom" },
  ),
);
const checkFunctionCall = compile(FunctionCall);
const checkCustomCall = compile(CustomCall);

export function parseMessages(values: readonly unknown[]): Conversation {
  if (values.length > MAX_ITEMS) throw tooManyItems("messages");
  const instructions: string[] = [];
  const items: PlacedItem[] = [];
  /** The calls of the assistant's last message that have no output yet. */
  let open: readonly Called[] = [];
  let calledAt = "";
  let legacyCalls = 0;

  function readAssistant(value: unknown, content: unknown, at: string): void {
    const message = checkAssistant(value, at);
    const text = textsOf(content ?? message.refusal ?? "", `${at}.content`);
    if (text !== "") items.push({ at, item: { type: "message", role: "assistant", content: text } });
    const calls = (message.tool_calls ?? []).map((call, index) => callOf(call, `${at}.tool_calls[${index}]`));
    // The older form has no ids.
    const older = message.function_call;
    if (older) calls.push({ type: "function_call", call_id: `call_function_${++legacyCalls}`, ...older });
    refuseDoubles(calls, at);
    items.push(...calls.map((item) => ({ at, item })));
    open = calls;
    calledAt = `${at}.${message.tool_calls?.length ? "tool_calls" : "function_call"}`;
  }

  function answer(call: Called | undefined, at: string, param: string, output: GivenContent): void {
    if (call === undefined) {
      const words = `"${at}.${param}" names no call of the assistant's message before it that still needs an output.`;
      throw invalid(`${at}.${param}`, "unknown_tool_call", words);
    }
    open = open.filter((other) => other !== call);
    items.push({ at, item: { type: "function_call_output", call_id: call.call_id, output } });
  }

  function refuseOpen(): void {
    if (open.length === 0) return;
    const ids = open.map(({ call_id }) => `"${call_id}"`).join(", ");
    const words = `"${calledAt}" must be followed by the output of each call. There is none for ${ids}.`;
    throw invalid(calledAt, "missing_tool_output", words);
  }

  for (const [index, value] of values.entries()) {
    const at = `messages[${index}]`;
    const { role, content } = checkRole(value, at);
    const place = `${at}.content`;
    if (role === "tool") {
      const { tool_call_id } = checkTool(value, at);
      const call = open.find(({ call_id }) => call_id === tool_call_id);
      answer(call, at, "tool_call_id", contentOf(content ?? "", place));
    } else if (role === "function") {
      const { name } = checkLegacy(value, at);
      const call = open.find((known) => known.name === name);
      answer(call, at, "name", textsOf(content ?? "", place));
    } else {
      refuseOpen();
      if (role === "assistant") readAssistant(value, content, at);
      else if (role === "user")
        items.push({ at, item: { type: "message", role, content: contentOf(content, place) } });
      else {
        const text = textsOf(content, place);
        if (items.length === 0) instructions.push(text);
        else items.push({ at, item: { type: "message", role, content: text } });
      }
    }
  }
  refuseOpen();
  const asked = withQuestion(items, instructions);
  const said = instructions.filter((text) => text.trim() !== "");
  return { instructions: said.length > 0 ? said.join("\n\n") : undefined, items: asked };
}

function callOf(value: unknown, at: string): Called {
  const { id: call_id, type } = checkCall(value, at);
  const given = value as Readonly<Record<string, unknown>>;
  if (type === "custom") {
    const { name, input } = checkCustomCall(given["custom"], `${at}.custom`);
    return { type: "function_call", call_id, name, arguments: customParams(input) };
  }
  const { name, arguments: params } = checkFunctionCall(given["function"], `${at}.function`);
  return { type: "function_call", call_id, name, arguments: params };
}

function refuseDoubles(calls: readonly Called[], at: string): void {
  const seen = new Set<string>();
  for (const [index, { call_id }] of calls.entries()) {
    const param = `${at}.tool_calls[${index}].id`;
    if (seen.has(call_id)) throw invalid(param, "duplicate_call_id", `"${param}" is the id of two calls.`);
    seen.add(call_id);
  }
}

/**
 * The messages must end with a user's message, or with an output for the model. Some programs put their whole question into a
 * system message; then the last of those is the question.
 */
function withQuestion(items: readonly PlacedItem[], instructions: string[]): readonly PlacedItem[] {
  const isRequest = ({ item }: PlacedItem) => item.type === "message" && item.role !== "assistant";
  const start = items.findLastIndex((placed) => !isRequest(placed)) + 1;
  const before = items[start - 1]?.item;
  const asks = items.slice(start);
  if (before && before.type !== "message") return items;
  if (asks.some(({ item }) => item.type === "message" && item.role === "user" && says(item.content)))
    return items;
  const last = asks.at(-1);
  if (last?.item.type === "message" && last.item.role !== "user" && says(last.item.content))
    return [...items.slice(0, -1), { ...last, item: { ...last.item, role: "user" } }];
  const alone = items.length === 0 ? instructions.pop() : undefined;
  if (alone !== undefined && says(alone))
    return [{ at: "messages[0]", item: { type: "message", role: "user", content: alone } }];
  throw invalid(
    "messages",
    "question_required",
    '"messages" must end with something to answer: a message of the user, or the outputs of tool calls. An answer that the assistant has begun cannot be continued.',
  );
}

const says = (content: GivenContent): boolean =>
  typeof content === "string"
    ? content.trim() !== ""
    : content.some((part) => !("text" in part) || (part.text as string).trim() !== "");
