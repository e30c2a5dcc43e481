/** A create request through the open door. */
import type { Format, Generation } from "../../../kernel/plugin.ts";
import { parseItems } from "../resolve/ask.ts";
import { compile } from "../wire/check.ts";
import { parseResponseId } from "../wire/id.ts";
import { invalid } from "../wire/refusal.ts";
import { allTools } from "./additional-tools.ts";
import { type GivenFormat, OpenBody } from "./body.ts";
import { ignoredFields } from "./ignored.ts";
import { parseOpenItem } from "./open-items.ts";
import { parseTools } from "./open-tools.ts";
import { previousNotFound } from "./refusals.ts";
import { type CreateRequest, refuseUnwired, type TurnSettings } from "./request.ts";
import { parseToolChoice } from "./tool-choice.ts";

const checkBody = compile(OpenBody);

/** `wired`: whether this composition can pause a turn for the caller's own tools. */
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
    door: "open",
    model: body.model,
    stream: body.stream ?? false,
    background: body.background ?? false,
    store: body.store ?? true,
    previous,
    conversation,
    items: parseItems(body.input, (item, at) => parseOpenItem(item, at, given?.tools ?? [])),
    instructions: body.instructions ?? undefined,
    tools: given?.tools,
    settings: settingsOf(body, choice.choice),
    include: body.include ?? [],
    echo: {
      previousResponseId: previousId ?? null,
      instructions: body.instructions ?? null,
      temperature: body.temperature ?? null,
      tools: given?.tools ?? [],
      metadata: body.metadata ?? {},
      settings: echoedSettings(body, conversation),
      ...(body.include?.includes("reasoning.encrypted_content") && { sealsReasoning: true }),
    },
    ignored: [
      ...(given?.ignored ?? []).map((kind) => `tools.${kind}`),
      ...choice.ignored,
      ...ignoredFields(body),
    ],
  };
}

function settingsOf(body: OpenBody, toolChoice: TurnSettings["toolChoice"]): TurnSettings {
  const format = formatOf(body.text?.format);
  return {
    callersToolsWin: true,
    parallelCalls: body.parallel_tool_calls ?? true,
    truncation: body.truncation ?? "disabled",
    generation: generationOf(body),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(typeof body.max_tool_calls === "number" && { maxToolCalls: body.max_tool_calls }),
    ...(format && { format }),
    ...(body.x_context && { context: body.x_context }),
    ...(body.x_required_tools && { requiredTools: body.x_required_tools }),
    ...(typeof body.temperature === "number" && { temperature: body.temperature }),
  };
}

function generationOf(body: OpenBody): Generation {
  const { top_p, max_output_tokens, prompt_cache_key, reasoning } = body;
  const safety = body.safety_identifier ?? body.user;
  const summary = reasoning?.summary ?? reasoning?.generate_summary;
  return {
    ...(typeof top_p === "number" && { topP: top_p }),
    ...(typeof max_output_tokens === "number" && { maxOutputTokens: max_output_tokens }),
    ...(reasoning?.effort && { reasoningEffort: reasoning.effort }),
    ...(summary && { reasoningSummary: summary }),
    ...(prompt_cache_key && { cacheKey: prompt_cache_key }),
    ...(safety && { safetyIdentifier: safety }),
  };
}

function formatOf(given: GivenFormat | null | undefined): Format | undefined {
  if (!given || given.type === "text") return undefined;
  if (given.type === "json_object") return { type: "json_object" };
  const { name, description, schema, strict } = given;
  return {
    type: "json_schema",
    name: name as string,
    ...(typeof description === "string" && { description }),
    schema: schema as Readonly<Record<string, unknown>>,
    strict: strict ?? false,
  };
}

/** What the response says of itself, in the words of the wire. */
function echoedSettings(body: OpenBody, conversation: string | undefined): Readonly<Record<string, unknown>> {
  const { text, reasoning } = body;
  return {
    model: body.model,
    tool_choice: body.tool_choice ?? "auto",
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    text: {
      format: formatOf(text?.format) ?? { type: "text" },
      ...(text?.verbosity && { verbosity: text.verbosity }),
    },
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    store: body.store ?? true,
    background: body.background ?? false,
    // Of the tier that it was really processed in, and there is but one.
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
  if (prompt !== undefined && prompt !== null)
    throw invalid(
      "prompt",
      "prompt_not_supported",
      '"prompt" is not supported: there are no stored prompts here. Send "instructions" and "input" instead.',
    );
  if (previous_response_id && conversation)
    throw invalid(
      "conversation",
      "mutually_exclusive",
      '"conversation" cannot be combined with "previous_response_id". Send one of them.',
    );
  if (background && store === false)
    throw invalid(
      "background",
      "background_requires_store",
      '"background" cannot be combined with "store": false: nothing would be left to ask for.',
    );
}
