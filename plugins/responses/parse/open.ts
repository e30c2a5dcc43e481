/** The body of a create request in the open dialect: what today's clients send, each field honoured, echoed or named as ignored. */

import { type Declared, maybe, Type } from "../../../kernel/kit/schema.ts";
import type { Generation } from "../../../kernel/kit/turns.ts";
import type { AnswerPolicy } from "../../agent/services.ts";
import type { Format } from "../../models/services.ts";
import { anyObject } from "../wire/format.ts";
import { parseResponseId } from "../wire/id.ts";
import { compile, invalid } from "../wire/refusal.ts";
import { parseItems } from "./items.ts";
import { OpenItem, parseOpenItem } from "./open-items.ts";
import { allTools, OpenTool, OpenToolChoice, parseToolChoice, parseTools } from "./open-tools.ts";
import {
  BODY,
  type CreateRequest,
  flag,
  type GivenSchema,
  MAX_FIELD_BYTES,
  previousNotFound,
  refuseUnwired,
  SHARED,
  schemaFormat,
  sharedSettings,
  words,
} from "./request.ts";

const fromTo = (minimum: number, maximum: number) =>
  maybe(Type.Number({ minimum, maximum, refusal: `must be a number from ${minimum} to ${maximum}` }));
export const atLeast = (minimum: number) =>
  maybe(
    Type.Integer({
      minimum,
      maximum: 1_000_000_000,
      refusal: `must be a whole number, at least ${minimum}`,
    }),
  );
const text = (most: number) =>
  maybe(Type.String({ maxLength: most, refusal: `must be a text of at most ${most} characters` }));

const GivenFormat = Type.Object(
  {
    type: Type.Enum(["text", "json_object", "json_schema"], {
      refusal: "must be text, json_object or json_schema",
    }),
    name: Type.Optional(Type.Unknown()),
    description: words,
    schema: Type.Optional(Type.Unknown()),
    strict: flag,
  },
  {
    refusal: "must be an object with a type",
    if: Type.Object({ type: Type.Literal("json_schema") }),
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    then: Type.Object({
      name: Type.String({
        pattern: "^[A-Za-z0-9_-]{1,64}$",
        refusal: "must be 1 to 64 letters, digits, underscores or hyphens",
      }),
      schema: anyObject({ refusal: "must be a JSON Schema object" }),
    }),
  },
);
type GivenFormat = Declared<typeof GivenFormat>;

export const Metadata = Type.Record(
  Type.String(),
  Type.String({ maxLength: 512, refusal: "must be a text of at most 512 characters" }),
  {
    maxProperties: 16,
    propertyNames: { maxLength: 64 },
    refusal: "must be an object of at most 16 texts, with keys of at most 64 characters",
  },
);

const effort = Type.String({ pattern: "^[a-z_]{1,32}$", refusal: "must be a level, such as low or high" });

export const OpenBody = Type.Object(
  {
    ...SHARED,
    background: flag,
    store: flag,
    parallel_tool_calls: flag,
    previous_response_id: text(512),
    conversation: maybe(
      Type.Union([Type.String({ maxLength: 512 }), Type.Object({ id: Type.String({ maxLength: 512 }) })], {
        refusal: "must be a conversation's id, or an object with it",
      }),
    ),
    prompt: Type.Optional(Type.Unknown()),
    tools: maybe(
      Type.Array(Type.Unknown(), {
        maxBytes: MAX_FIELD_BYTES,
        refusal: "must be an array of tools, at most 256 KiB as JSON",
      }),
    ),
    // The response echoes it, so it must not be larger than the tools it chooses from.
    tool_choice: Type.Optional(
      Type.Unknown({ maxBytes: MAX_FIELD_BYTES, refusal: "must be at most 256 KiB as JSON" }),
    ),
    input: Type.Optional(Type.Unknown()),
    text: maybe(
      Type.Object(
        {
          format: maybe(GivenFormat),
          verbosity: maybe(Type.String({ maxLength: 32, refusal: "must be low, medium or high" })),
        },
        { maxBytes: MAX_FIELD_BYTES, refusal: "must be an object with a format, at most 256 KiB as JSON" },
      ),
    ),
    reasoning: maybe(
      Type.Object(
        { effort: maybe(effort), summary: maybe(effort), generate_summary: maybe(effort) },
        { refusal: "must be an object with effort and summary" },
      ),
    ),
    metadata: maybe(Metadata),
    include: maybe(
      Type.Array(Type.String({ maxLength: 128, refusal: "must be a name" }), {
        maxItems: 64,
        refusal: "must be an array of at most 64 names",
      }),
    ),
    truncation: maybe(Type.Enum(["auto", "disabled"], { refusal: "must be auto or disabled" })),
    service_tier: text(64),
    prompt_cache_key: text(512),
    safety_identifier: text(512),
    user: text(512),
    // The published rule, which clients know.
    max_output_tokens: atLeast(16),
    max_tool_calls: atLeast(1),
    top_p: fromTo(0, 1),
    top_logprobs: fromTo(0, 20),
    presence_penalty: fromTo(-2, 2),
    frequency_penalty: fromTo(-2, 2),
    stream_options: maybe(anyObject({ refusal: "must be an object" })),
  },
  BODY,
);
export type OpenBody = Declared<typeof OpenBody>;

/** The whole body, for the OpenAPI document. */
export const OpenCreateBody = Type.Object(
  {
    ...OpenBody.properties,
    tools: maybe(Type.Array(OpenTool)),
    tool_choice: maybe(OpenToolChoice),
    input: Type.Union([Type.String(), Type.Array(OpenItem)]),
  },
  { $id: "CreateOpenResponse" },
);

const checkBody = compile(OpenBody);

/** `wired` is true when this composition can pause a turn for the caller's own tools. */
export function parseOpen(value: unknown, wired: boolean): CreateRequest {
  const body = checkBody(value);
  refuseTogether(body);
  const brought = allTools(body.tools, body.input);
  if (!wired) refuseUnwired({ ...body, tools: brought });
  const given = brought && parseTools(brought);
  const choice = parseToolChoice(body.tool_choice, given?.tools ?? []);
  const previousId = body.previous_response_id ?? undefined;
  const previous = previousId === undefined ? undefined : parseResponseId(previousId);
  if (previousId !== undefined && previous === undefined) throw previousNotFound();
  const conversation =
    typeof body.conversation === "string" ? body.conversation : (body.conversation?.id ?? undefined);
  return {
    dialect: "open",
    model: body.model,
    stream: body.stream ?? false,
    background: body.background ?? false,
    store: body.store ?? true,
    previous,
    items: parseItems(body.input, (item, at) => parseOpenItem(item, at, given?.tools ?? [])),
    instructions: body.instructions ?? undefined,
    tools: given?.tools,
    context: body.x_context ?? undefined,
    settings: settingsOf(body, choice.choice),
    echo: {
      previousResponseId: previousId ?? null,
      instructions: body.instructions ?? null,
      temperature: body.temperature ?? null,
      tools: given?.tools ?? [],
      metadata: body.metadata ?? {},
      settings: echoedSettings(body, conversation),
      sealsReasoning: body.include?.includes("reasoning.encrypted_content") || undefined,
    },
    ignored: [
      ...(given?.ignored ?? []).map((kind) => `tools.${kind}`),
      ...choice.ignored,
      ...ignoredFields(body),
    ],
  };
}

function settingsOf(body: OpenBody, toolChoice: AnswerPolicy["toolChoice"]): AnswerPolicy {
  return {
    callersToolsWin: true,
    parallelCalls: body.parallel_tool_calls ?? true,
    truncation: body.truncation ?? "disabled",
    generation: generationOf(body),
    toolChoice,
    maxToolCalls: body.max_tool_calls ?? undefined,
    format: formatOf(body.text?.format),
    ...sharedSettings(body),
  };
}

function generationOf(body: OpenBody): Generation {
  const { reasoning } = body;
  return {
    topP: body.top_p ?? undefined,
    maxOutputTokens: body.max_output_tokens ?? undefined,
    reasoningEffort: reasoning?.effort || undefined,
    reasoningSummary: (reasoning?.summary ?? reasoning?.generate_summary) || undefined,
    cacheKey: body.prompt_cache_key || undefined,
    safetyIdentifier: (body.safety_identifier ?? body.user) || undefined,
  };
}

function formatOf(given: GivenFormat | null | undefined): Format | undefined {
  if (!given || given.type === "text") return undefined;
  if (given.type === "json_object") return { type: "json_object" };
  return schemaFormat(given as GivenSchema);
}

function echoedSettings(body: OpenBody, conversation: string | undefined): Readonly<Record<string, unknown>> {
  const { text, reasoning } = body;
  return {
    model: body.model,
    tool_choice: body.tool_choice ?? "auto",
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    text: { format: formatOf(text?.format) ?? { type: "text" }, verbosity: text?.verbosity || undefined },
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    store: body.store ?? true,
    background: body.background ?? false,
    // The tier that really processed it; there is only one.
    service_tier: "default",
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    top_logprobs: body.top_logprobs ?? 0,
    conversation: conversation === undefined ? null : { id: conversation },
  };
}

function refuseTogether({ prompt, previous_response_id, conversation, background, store }: OpenBody): void {
  if (prompt !== undefined && prompt !== null) {
    const message =
      '"prompt" is not supported: there are no stored prompts here. Send "instructions" and "input" instead.';
    throw invalid("prompt", "prompt_not_supported", message);
  }
  if (previous_response_id && conversation) {
    const message = '"conversation" cannot be combined with "previous_response_id". Send one of them.';
    throw invalid("conversation", "mutually_exclusive", message);
  }
  if (background && store === false) {
    const message = '"background" cannot be combined with "store": false: nothing would be left to ask for.';
    throw invalid("background", "background_requires_store", message);
  }
}

/** Known fields that have no effect here; each is named only when it asks for something. */
const NEVER = [
  "access_programs",
  "context_management",
  "image",
  "logit_bias",
  "moderation",
  "prompt_cache_options",
  "prompt_cache_retention",
] as const;

const TIERS: ReadonlySet<unknown> = new Set([undefined, null, "auto", "default"]);
const INCLUDED: ReadonlySet<string> = new Set(["reasoning.encrypted_content"]);

function ignoredFields(body: OpenBody): readonly string[] {
  const all = body as Readonly<Record<string, unknown>>;
  return [
    ...NEVER.filter((field) => all[field] !== undefined && all[field] !== null),
    ...["presence_penalty", "frequency_penalty", "top_logprobs"].filter((field) => Boolean(all[field])),
    ...(TIERS.has(body.service_tier) ? [] : ["service_tier"]),
    ...(body.text?.verbosity ? ["text.verbosity"] : []),
    ...(body.stream_options?.["include_obfuscation"] === true ? ["stream_options.include_obfuscation"] : []),
    ...(body.include ?? []).filter((name) => !INCLUDED.has(name)).map((name) => `include.${name}`),
  ];
}

const MAX_IGNORED = 32;
const MAX_IGNORED_LENGTH = 96;

/** The names as one header: whatever a stranger wrote is reduced to what a header may hold. */
export function ignoredHeader(names: readonly string[]): string {
  const clean = names.map((name) => name.replaceAll(/[^\w.:-]/g, "_").slice(0, MAX_IGNORED_LENGTH));
  return [...new Set(clean)].slice(0, MAX_IGNORED).join(", ");
}
