/** What the Responses format sends: every key is always there, null where there is nothing to say. */

export interface TextPart {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly [];
  readonly logprobs: readonly [];
}

export type ItemStatus = "in_progress" | "completed" | "incomplete";

export interface MessageItem {
  readonly type: "message";
  readonly id: string;
  readonly status: ItemStatus;
  readonly role: "assistant";
  readonly content: readonly TextPart[];
}

export interface FunctionCallItem {
  readonly type: "function_call";
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly status: ItemStatus;
}

export type OutputItem = MessageItem | FunctionCallItem;

export interface WireTool {
  readonly type: "function";
  readonly name: string;
  readonly description: string | null;
  readonly parameters: Readonly<Record<string, unknown>> | null;
  readonly strict: boolean | null;
}

export interface WireError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

export interface WireUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
  readonly cost: {
    readonly input_cost_usd: string;
    readonly output_cost_usd: string;
    readonly total_cost_usd: string;
    readonly currency: "USD";
  };
}

export type ResponseStatus = "queued" | "in_progress" | "completed" | "failed" | "cancelled";

export interface ResponseObject {
  readonly id: string;
  readonly object: "response";
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: ResponseStatus;
  readonly incomplete_details: null;
  readonly model: string;
  readonly previous_response_id: string | null;
  readonly instructions: string | null;
  readonly output: readonly OutputItem[];
  readonly error: WireError | null;
  readonly tools: readonly WireTool[];
  readonly tool_choice: "auto";
  readonly truncation: "disabled";
  readonly parallel_tool_calls: false;
  readonly text: { readonly format: { readonly type: "text" } };
  readonly top_p: 1;
  readonly presence_penalty: 0;
  readonly frequency_penalty: 0;
  readonly top_logprobs: 0;
  readonly temperature: number;
  readonly reasoning: null;
  readonly usage: WireUsage | null;
  readonly max_output_tokens: null;
  readonly max_tool_calls: null;
  readonly store: true;
  readonly background: false;
  readonly service_tier: "default";
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly safety_identifier: null;
  readonly prompt_cache_key: null;
}

interface InItem {
  readonly item_id: string;
  readonly output_index: number;
}

interface InPart extends InItem {
  readonly content_index: 0;
}

/** One event of a stream, before it gets its `sequence_number`. */
export type StreamEvent =
  | {
      readonly type: "response.created" | "response.in_progress" | "response.completed" | "response.failed";
      readonly response: ResponseObject;
    }
  | {
      readonly type: "response.output_item.added" | "response.output_item.done";
      readonly output_index: number;
      readonly item: OutputItem;
    }
  | ({
      readonly type: "response.content_part.added" | "response.content_part.done";
      readonly part: TextPart;
    } & InPart)
  | ({
      readonly type: "response.output_text.delta";
      readonly delta: string;
      readonly logprobs: readonly [];
    } & InPart)
  | ({
      readonly type: "response.output_text.done";
      readonly text: string;
      readonly logprobs: readonly [];
    } & InPart)
  | ({ readonly type: "response.function_call_arguments.delta"; readonly delta: string } & InItem)
  | ({
      readonly type: "response.function_call_arguments.done";
      readonly name: string;
      readonly arguments: string;
    } & InItem);
