/** The body of a create request in the strict dialect: every rule and limit of the specification that needs no lookup. */
import { bytesOf, maybe, Type } from "../../../kernel/kit/schema.ts";
import { anyObject } from "../wire/format.ts";
import { parseResponseId } from "../wire/id.ts";
import { compile } from "../wire/refusal.ts";
import { Item, parseItems } from "./items.ts";
import {
  BODY,
  type CreateRequest,
  functionTool,
  GIVEN_FUNCTION,
  GivenFunction,
  refuseDouble,
  refuseUnwired,
  SHARED,
  sharedSettings,
  TOOL,
} from "./request.ts";

const MAX_METADATA_BYTES = 16 * 1024;

const Body = Type.Object(
  {
    ...SHARED,
    // Other values of these two were ignored before they had a meaning here, and still are.
    store: Type.Optional(Type.Unknown()),
    truncation: Type.Optional(Type.Unknown()),
    previous_response_id: maybe(
      Type.String({
        pattern: "^resp_[0-9a-f]{64}$",
        refusal: "must be the id of an earlier response: resp_ and 64 hexadecimal digits",
      }),
    ),
    tools: maybe(
      Type.Array(Type.Unknown(), {
        maxBytes: 16 * 1024,
        refusal: "must be an array of function tools, at most 16 KiB as JSON",
      }),
    ),
    tool_choice: Type.Optional(Type.Unknown()),
    input: Type.Optional(Type.Unknown()),
    metadata: Type.Optional(Type.Unknown()),
  },
  BODY,
);

const kind = Type.Literal("function", {
  refusal: 'must be "function": other kinds of tools are not supported',
});

/** The whole body for the OpenAPI document. Tools and items are checked one by one, so that a mistake names its place. */
export const CreateBody = Type.Object(
  {
    ...Body.properties,
    tools: maybe(Type.Array(Type.Object({ type: kind, ...GIVEN_FUNCTION }))),
    input: Type.Union([Type.String(), Type.Array(Item)]),
    metadata: maybe(anyObject()),
  },
  { $id: "CreateResponse" },
);

const checkBody = compile(Body);
const checkKind = compile(Type.Object({ type: kind }, TOOL));
const checkFunction = compile(GivenFunction);

function parseTool(value: unknown, at: string) {
  // The type comes first: fields that another kind of tool lacks are of no interest.
  checkKind(value, at);
  return functionTool(checkFunction(value, at));
}

/** `wired` is true when this composition can pause a turn for the caller's own tools. */
export function parseStrict(value: unknown, wired: boolean): CreateRequest {
  const body = checkBody(value);
  if (!wired) refuseUnwired(body);
  const tools = body.tools?.map((tool, index) => parseTool(tool, `tools[${index}]`));
  const seen = new Set<string>();
  for (const [index, { name }] of (tools ?? []).entries()) refuseDouble(`tools[${index}]`, name, seen);
  const previous = body.previous_response_id ?? undefined;
  const store = body.store !== false;
  const truncation = body.truncation === "auto" ? "auto" : "disabled";
  const settings = { ...(!store && { store }), ...(truncation === "auto" && { truncation }) };
  return {
    dialect: "strict",
    model: body.model,
    stream: body.stream ?? false,
    background: false,
    store,
    previous: previous === undefined ? undefined : parseResponseId(previous),
    items: parseItems(body.input),
    instructions: body.instructions ?? undefined,
    tools,
    context: body.x_context ?? undefined,
    settings: { truncation, ...sharedSettings(body) },
    echo: {
      previousResponseId: previous ?? null,
      instructions: body.instructions ?? null,
      temperature: body.temperature ?? null,
      tools: tools ?? [],
      metadata: metadataOf(body.metadata),
      ...(Object.keys(settings).length > 0 && { settings }),
    },
    ignored: [],
  };
}

/** The caller's own note is echoed when it is an object of a fair size, and is never an error. */
function metadataOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return (bytesOf(value) ?? Number.POSITIVE_INFINITY) <= MAX_METADATA_BYTES
    ? (value as Record<string, unknown>)
    : {};
}
