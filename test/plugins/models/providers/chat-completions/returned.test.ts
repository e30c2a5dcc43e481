/** What compatible servers want back of earlier answers: Gemini's seals, the thoughts of DeepSeek and Kimi. */
import { expect, test } from "vitest";
import { createLessons } from "../../../../../plugins/models/providers/lessons.ts";
import { createProviderModel } from "../../../../../plugins/models/providers/provider.ts";
import type { ModelMessage, ModelPart } from "../../../../../plugins/models/services.ts";
import { type Play, startEventServer } from "../../../../support/servers/event-server.ts";

function speaker(baseUrl: string, name: string, lessons = createLessons()) {
  const provider = "openai-compatible";
  const model = createProviderModel({ provider, name, baseUrl, key: "k", window: 1000, lessons });
  return async (messages: readonly ModelMessage[]): Promise<ModelPart[]> => {
    const request = { system: "Be brief.", messages, tools: TOOLS, temperature: undefined };
    const parts: ModelPart[] = [];
    for await (const some of model.stream(request, new AbortController().signal)) parts.push(...some);
    return parts;
  };
}

const TOOLS = [{ name: "weather", description: "", schema: { type: "object" } }];
const USER: ModelMessage = { role: "user", text: "Weather?" };
const chunk = (delta: object, finish_reason: string | null = null) => ({
  type: "chunk",
  choices: [{ index: 0, delta, finish_reason }],
});
const ANSWER = [chunk({ content: "Sunny." }), chunk({}, "stop")];

interface Sent {
  readonly role: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly extra_content?: { readonly google?: object } }[];
}
const sentIn = (body: Readonly<Record<string, unknown>>) => body["messages"] as readonly Sent[];
const refuse = (message: string) => ({ status: 400, error: { message, code: 400 } });

function turnWith(id: string, reasoning?: string): readonly ModelMessage[] {
  const call = { id, name: "weather", params: "{}" };
  return [
    USER,
    { role: "assistant", text: "", calls: [call], ...(reasoning && { reasoning }) },
    { role: "tool", call, output: "sunny", failed: false },
  ];
}

const sealsOf = (body: Readonly<Record<string, unknown>>) =>
  sentIn(body).flatMap(({ tool_calls }) => tool_calls?.[0]?.extra_content?.google ?? []);

/** Refuses a call without its seal. */
const gemini: Play = (body) => {
  const calls = sentIn(body).flatMap(({ tool_calls }) => tool_calls ?? []);
  if (calls.some(({ extra_content }) => extra_content?.google === undefined))
    return refuse(
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
    );
  if (calls.length > 0) return ANSWER;
  const call = { index: 0, id: "", type: "function", function: { name: "weather", arguments: "{}" } };
  const seal = { google: { thought_signature: "sealed" } };
  return [chunk({ tool_calls: [{ ...call, extra_content: seal }] }), chunk({}, "tool_calls")];
};

test("Gemini's seal goes back with the call, in later turns too", async () => {
  const server = await startEventServer(gemini);
  const ask = speaker(server.url, "gemini-3.8-flash");
  const [called] = await ask([USER]);
  const id = called?.type === "call" ? called.call.id : "";
  expect(id).not.toBe("");
  expect(await ask(turnWith(id))).toContainEqual({ type: "text", delta: "Sunny." });
  await ask([...turnWith(id), { role: "assistant", text: "Sunny.", calls: [] }, USER]);
  expect(server.requests.map(({ body }) => sealsOf(body))).toEqual([
    [],
    [{ thought_signature: "sealed" }],
    [{ thought_signature: "sealed" }],
  ]);
});

test("a seal that is gone, or of another model's call, is replaced by Google's own placeholder, which is remembered", async () => {
  const server = await startEventServer(gemini);
  const lessons = createLessons();
  for (let start = 0; start < 2; start++)
    await speaker(server.url, "gemini-3.8-flash", lessons)(turnWith("c1"));
  const placeholder = { thought_signature: "skip_thought_signature_validator" };
  expect(server.requests.map(({ body }) => sealsOf(body))).toEqual([[], [placeholder], [placeholder]]);
});

test.each([
  ["DeepSeek", "The `reasoning_content` in the thinking mode must be passed back to the API."],
  ["Kimi", "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"],
])(
  "%s gets the thoughts of every answer back, of earlier turns too, also after a restart",
  async (_, words) => {
    const server = await startEventServer((body) =>
      sentIn(body).every((message) => message.role !== "assistant" || message.reasoning_content)
        ? ANSWER
        : refuse(words),
    );
    const messages: readonly ModelMessage[] = [
      ...turnWith("c1", "Look it up."),
      { role: "assistant", text: "Sunny.", calls: [] },
      ...turnWith("c2", "Again."),
    ];
    const lessons = createLessons();
    for (let start = 0; start < 2; start++)
      expect(await speaker(server.url, "m", lessons)(messages)).toContainEqual({
        type: "text",
        delta: "Sunny.",
      });
    const thoughts = server.requests.map(({ body }) =>
      sentIn(body).flatMap(({ role, reasoning_content }) =>
        role === "assistant" ? [reasoning_content] : [],
      ),
    );
    const all = ["Look it up.", " ", "Again."];
    expect(thoughts).toEqual([[undefined, undefined, undefined], all, all]);
  },
);
