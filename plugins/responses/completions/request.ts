/** The body of a chat completion as a request to the agent, and how its answer is to be written. */
import { parseOpenItem } from "../parse/open-items.ts";
import { type CreateRequest, refuseUnwired, type TurnSettings } from "../parse/request.ts";
import { invalid } from "../wire/refusal.ts";
import { type Body, checkBody, formatOf, generationOf, ignoredIn } from "./body.ts";
import { parseMessages } from "./messages.ts";
import { type GivenTools, parseChoice, parseFunctions, parseLegacyChoice, parseTools } from "./tools.ts";

export interface CompletionRequest {
  readonly request: CreateRequest;
  readonly form: Form;
}

/** What only the answer needs to know. */
export interface Form {
  /** As the client wrote it. */
  readonly model: string;
  /** The last chunk of a stream has the usage, and the others have it as null. */
  readonly includesUsage: boolean;
  /** The request came with `functions`: a call is answered as `function_call`. */
  readonly isLegacy: boolean;
  /** The answer is JSON: what the assistant says on the way to it is no part of it. */
  readonly isJson: boolean;
}

interface Calling extends Partial<GivenTools> {
  readonly choice: TurnSettings["toolChoice"];
  readonly isLegacy: boolean;
}

/** `wired`: whether this composition can pause a turn for the caller's own tools. */
export function parseCompletion(value: unknown, wired: boolean): CompletionRequest {
  const body = checkBody(value);
  if (!wired) refuseUnwired(body);
  const { choice, tools, ignored = [], isLegacy } = callingOf(body);
  const { instructions, items } = parseMessages(body.messages);
  const format = formatOf(body);
  const { model, temperature } = body;
  const request: CreateRequest = {
    door: "open",
    model,
    stream: body.stream ?? false,
    background: false,
    store: body.store ?? true,
    previous: undefined,
    conversation: undefined,
    items: items.map(({ item, at }) => parseOpenItem(item, at, tools ?? [])),
    instructions,
    tools,
    settings: {
      callersToolsWin: true,
      // The older form has room for one call.
      parallelCalls: !isLegacy && (body.parallel_tool_calls ?? true),
      truncation: "disabled",
      generation: generationOf(body),
      ...(choice !== undefined && { toolChoice: choice }),
      ...(format && { format }),
      ...(body.x_context && { context: body.x_context }),
      ...(body.x_required_tools && { requiredTools: body.x_required_tools }),
      ...(typeof temperature === "number" && { temperature }),
    },
    include: [],
    echo: {
      previousResponseId: null,
      instructions: instructions ?? null,
      temperature: temperature ?? null,
      tools: tools ?? [],
      metadata: body.metadata ?? {},
    },
    ignored: [...ignored.map((kind) => `tools.${kind}`), ...ignoredIn(body)],
  };
  const form = {
    model,
    includesUsage: body.stream_options?.include_usage === true,
    isLegacy,
    isJson: format !== undefined,
  };
  return { request, form };
}

function callingOf(body: Body): Calling {
  const { tools, functions } = body;
  if (!functions) {
    if (body.function_call !== undefined && body.function_call !== null && body.function_call !== "none")
      throw invalid(
        "function_call",
        "invalid_function_call",
        '"function_call" is only for requests with "functions". With "tools" it is "tool_choice".',
      );
    return { ...(tools && parseTools(tools)), choice: parseChoice(body.tool_choice), isLegacy: false };
  }
  if (tools?.length)
    throw invalid(
      "functions",
      "mutually_exclusive",
      '"functions" cannot be combined with "tools". Send one of them.',
    );
  return { tools: parseFunctions(functions), choice: parseLegacyChoice(body.function_call), isLegacy: true };
}
