/** Streams of every kind, recorded from the real service: what a client would have received, to the byte. */
import type { ModelReply } from "../servers/model-server.ts";
import { scriptedModel } from "./agent.ts";
import { type Service, startService } from "./responses.ts";

export interface RecordedStream {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

interface Recipe {
  readonly name: string;
  /** What the model says, one answer for each request. */
  readonly answers: readonly ModelReply[];
  readonly body: object;
}

const RESPONSES = "/openai/v1/responses";
const COMPLETIONS = "/openai/v1/chat/completions";
const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const find = { type: "function", name: "find", description: "Finds a city", parameters, strict: false };
const patch = { type: "custom", name: "patch", description: "Applies a patch" };
const crm = {
  type: "namespace",
  name: "crm",
  description: "Customers",
  tools: [{ ...find, name: "lookup" }],
};
const chatTools = [{ type: "function", function: { name: "find", description: "Finds a city", parameters } }];
const schema = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] };
const strictSchema = { ...schema, additionalProperties: false };

const asks = (name: string, id: string, value: unknown = { city: "Berlin" }) => ({
  id,
  name,
  arguments: value,
});
const message = (role: string, content: unknown) => ({ type: "message", role, content });
const call = { type: "function_call", call_id: "call_r", name: "find", arguments: '{"city":"Berlin"}' };
const output = { type: "function_call_output", call_id: "call_r", output: "It is there." };
const chatCall = {
  id: "call_r",
  type: "function",
  function: { name: "find", arguments: '{"city":"Berlin"}' },
};

const OF_RESPONSES: readonly Recipe[] = [
  { name: "text", answers: [{ text: ["Hel", "lo", "!"] }], body: { input: "Hi" } },
  {
    name: "one call",
    answers: [{ text: "I look.", calls: [asks("find", "call_1")] }],
    body: { input: "Where?", tools: [find] },
  },
  {
    name: "parallel calls",
    answers: [{ calls: [asks("find", "call_2"), asks("find", "call_3", { city: "Rome" })] }],
    body: { input: "Where?", tools: [find], tool_choice: "required" },
  },
  {
    name: "a custom tool",
    answers: [{ calls: [asks("patch", "call_4", { input: "*** Begin Patch" })] }],
    body: { input: "Patch", tools: [patch], tool_choice: { type: "custom", name: "patch" } },
  },
  {
    name: "a namespace",
    answers: [{ calls: [asks("crm__lookup", "call_5")] }],
    body: { input: "Who?", tools: [crm] },
  },
  {
    name: "reasoning",
    answers: [{ reasoning: ["Let me", " think."], text: "42" }],
    body: { input: "6 * 7?" },
  },
  {
    name: "reasoning and a call",
    answers: [{ reasoning: "I have to look.", calls: [asks("find", "call_6")] }],
    body: { input: "Where?", tools: [find], reasoning: { effort: "high", summary: "auto" } },
  },
  {
    name: "cut at its length",
    answers: [{ text: "Once upon a", finish: "length" }],
    body: { input: "Tell", max_output_tokens: 16 },
  },
  {
    name: "stopped by a content filter",
    answers: [{ text: "Well", finish: "content_filter" }],
    body: { input: "Tell" },
  },
  { name: "failed at once", answers: [{ status: 400 }], body: { input: "Hi" } },
  { name: "failed in the middle", answers: [{ text: "Once", end: "error" }], body: { input: "Hi" } },
  {
    name: "structured output",
    answers: [{ text: '{"answer":42}' }],
    body: {
      input: "6 * 7?",
      text: { format: { type: "json_schema", name: "answer", schema: strictSchema, strict: true } },
    },
  },
  {
    name: "a JSON object",
    answers: [{ text: '{"answer":42}' }],
    body: { input: "6 * 7? In JSON", text: { format: { type: "json_object" } } },
  },
  {
    name: "a replayed tool loop",
    answers: [{ text: "In Berlin." }],
    body: { input: [message("user", "Where?"), call, output], tools: [find] },
  },
  {
    name: "not stored, with sealed thoughts",
    answers: [{ reasoning: "Hm.", text: "Yes." }],
    body: { input: "Hi", store: false, include: ["reasoning.encrypted_content"] },
  },
  {
    name: "all that can be asked for",
    answers: [{ text: "Yes." }],
    body: {
      input: [message("system", "Be brief."), message("user", [{ type: "input_text", text: "Hi" }])],
      instructions: "Answer in English.",
      metadata: { ticket: "7" },
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      max_tool_calls: 3,
      parallel_tool_calls: false,
      truncation: "auto",
      prompt_cache_key: "key",
      safety_identifier: "someone",
      tools: [find, patch, crm],
      tool_choice: "none",
    },
  },
  {
    name: "in the background",
    answers: [{ text: "Done." }],
    body: { input: "Hi", background: true },
  },
  {
    name: "tools among the items",
    answers: [{ calls: [asks("crm__lookup", "call_a")] }],
    body: {
      input: [{ type: "additional_tools", role: "developer", tools: [crm] }, message("user", "Who?")],
      store: false,
    },
  },
  {
    name: "a file",
    answers: [{ text: "Notes." }],
    body: {
      input: [
        message("user", [
          { type: "input_text", text: "What is it?" },
          { type: "input_file", filename: "notes.txt", file_data: "data:text/plain;base64,Tm90ZXM=" },
        ]),
      ],
    },
  },
  {
    name: "an image",
    answers: [{ text: "A dot." }],
    body: {
      input: [
        message("user", [
          { type: "input_text", text: "What is it?" },
          { type: "input_image", image_url: PICTURE, detail: "low" },
        ]),
      ],
    },
  },
];

const OF_COMPLETIONS: readonly Recipe[] = [
  { name: "text", answers: [{ text: ["Hel", "lo"] }], body: { say: "Hi" } },
  {
    name: "text with usage",
    answers: [{ text: "Hello" }],
    body: { say: "Hi", stream_options: { include_usage: true } },
  },
  {
    name: "one call",
    answers: [{ text: "I look.", calls: [asks("find", "call_7")] }],
    body: { say: "Where?", tools: chatTools },
  },
  {
    name: "parallel calls",
    answers: [{ calls: [asks("find", "call_8"), asks("find", "call_9", { city: "Rome" })] }],
    body: { say: "Where?", tools: chatTools, parallel_tool_calls: true },
  },
  {
    name: "a replayed tool loop",
    answers: [{ text: "In Berlin." }],
    body: {
      messages: [
        { role: "user", content: "Where?" },
        { role: "assistant", content: null, tool_calls: [chatCall] },
        { role: "tool", tool_call_id: "call_r", content: "It is there." },
      ],
      tools: chatTools,
    },
  },
  { name: "reasoning", answers: [{ reasoning: "Hm.", text: "42" }], body: { say: "6 * 7?" } },
  { name: "cut at its length", answers: [{ text: "Once", finish: "length" }], body: { say: "Tell" } },
  {
    name: "stopped by a content filter",
    answers: [{ text: "Well", finish: "content_filter" }],
    body: { say: "Tell" },
  },
  { name: "failed in the middle", answers: [{ text: "Once", end: "error" }], body: { say: "Tell" } },
  {
    name: "structured output",
    answers: [{ text: '{"answer":42}' }],
    body: {
      say: "6 * 7?",
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: strictSchema, strict: true },
      },
    },
  },
];

/** Each kind of stream once, in the order of the lists. */
export async function recordStreams(): Promise<readonly RecordedStream[]> {
  const model = await scriptedModel();
  const service = await startService({
    model,
    variables: { MODEL_INPUTS: "text,image" },
    tools: { clock: { run: () => ({ status: "ok", output: "It is noon.", receipt: "receipt-1" }) } },
  });
  const streams: RecordedStream[] = [];
  const record = async (path: string, { name, answers, body }: Recipe) => {
    model.script(...answers);
    const { say, ...rest } = body as { say?: string };
    const messages = say === undefined ? {} : { messages: [{ role: "user", content: say }] };
    const answer = await service.send("POST", path, { model: "gpt-5", stream: true, ...messages, ...rest });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}, ${name}: ${answer.status} ${text}`);
    streams.push({ name, path, text });
    return text;
  };
  for (const recipe of OF_RESPONSES) await record(RESPONSES, recipe);
  for (const recipe of OF_COMPLETIONS) await record(COMPLETIONS, recipe);

  // What the agent's own tools do between two messages is not told.
  const own = [{ text: "I look.", calls: [asks("clock", "call_o", {})] }, { text: "Noon." }];
  await record(RESPONSES, { name: "several messages", answers: own, body: { input: "When?" } });
  await record(COMPLETIONS, { name: "the agent's own tool", answers: own, body: { say: "When?" } });

  const first = await record(RESPONSES, {
    name: "a first response",
    answers: [{ calls: [asks("find", "call_r")] }],
    body: { input: "Where?", tools: [find] },
  });
  const previous = { previous_response_id: idIn(first), input: [output], tools: [find] };
  await record(RESPONSES, { name: "a previous id", answers: [{ text: "In Berlin." }], body: previous });

  const created = await service.send("POST", "/openai/v1/conversations", {});
  const { id: conversation } = (await created.json()) as { readonly id: string };
  for (const name of ["a conversation", "a conversation that goes on"])
    await record(RESPONSES, { name, answers: [{ text: "Hello." }], body: { input: "Hi", conversation } });

  streams.push(await recordCancelled(service, () => model.script({ text: "Well,", end: "stall" })));
  return streams;
}

const idIn = (text: string): string => /resp_[0-9a-f]{64}/.exec(text)?.[0] ?? "";

async function recordCancelled(service: Service, script: () => void): Promise<RecordedStream> {
  script();
  const answer = await service.send("POST", RESPONSES, { model: "gpt-5", stream: true, input: "Hi" });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    const isNew = !text.includes("output_text.delta");
    text += decoder.decode(chunk, { stream: true });
    if (isNew && text.includes("output_text.delta")) {
      await service.send("POST", `${RESPONSES}/${idIn(text)}/cancel`);
    }
  }
  return { name: "cancelled", path: RESPONSES, text };
}
