/** Every event of many streams, held against the types and the schemas that client libraries publish. */
import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type LanguageModel, streamText } from "ai";
import { expect, test } from "vitest";
import { ROOT } from "../../../support/clone.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { type RecordedStream, recordStreams } from "../../../support/services/recorded-streams.ts";

let recorded: Promise<readonly RecordedStream[]> | undefined;

/** Once for all tests of this file. */
function allStreams(): Promise<readonly RecordedStream[]> {
  recorded ??= recordStreams();
  return recorded;
}

/** What a stream tells, with the frames as objects. */
function framesOf({ text }: RecordedStream): readonly Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));
}

const isResponses = ({ path }: RecordedStream) => path.endsWith("/responses");

/** The library's types, widened by what is sent besides (costs, thoughts, a name, a status, codes of errors) and without what it adds itself. */
const TYPES = `
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type {
  Response, ResponseCustomToolCall, ResponseError, ResponseFunctionCallArgumentsDoneEvent, ResponseOutputItem,
  ResponseStreamEvent, ResponseUsage,
} from "openai/resources/responses/responses";

type Costs = { cost: number; cost_details: object };
type Item = ResponseOutputItem | (ResponseCustomToolCall & { status: "in_progress" | "completed" | "incomplete" });
type Sent = Omit<Response, "output_text" | "output" | "usage" | "error" | "incomplete_details"> & {
  output: Item[];
  presence_penalty: number;
  frequency_penalty: number;
  store: boolean;
  usage: ResponseUsage & Costs;
  error: (Omit<ResponseError, "code"> & { code: string; type: string }) | null;
  incomplete_details: { reason: "cancelled" | "max_output_tokens" | "content_filter" } | null;
};
type Event<Published> = Published extends { response: Response }
  ? Omit<Published, "response"> & { response: Sent }
  : Published extends { item: ResponseOutputItem }
    ? Omit<Published, "item"> & { item: Item }
    : Published extends ResponseFunctionCallArgumentsDoneEvent
      ? Published & { name: string }
      : Published;
type Choice = ChatCompletionChunk.Choice;
type Chunk = Omit<ChatCompletionChunk, "system_fingerprint" | "usage" | "choices"> & {
  choices: (Omit<Choice, "delta"> & { delta: Choice["delta"] & { reasoning_content?: string } })[];
  system_fingerprint: null;
  usage?: (NonNullable<ChatCompletionChunk["usage"]> & Costs) | null;
  x_postern?: object;
};
type Failure = { error: { message: string; type: string; param: string | null; code: string } };

export type ResponsesFrame = Event<ResponseStreamEvent>;
export type CompletionsFrame = Chunk | Failure;
`;

test("every event is what the types of the openai package say", async () => {
  const streams = await allStreams();
  expect(streams.length).toBeGreaterThanOrEqual(20);
  const folder = temporaryFolder();
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "frames.ts"), TYPES);
  for (const [index, stream] of streams.entries()) {
    const type = isResponses(stream) ? "ResponsesFrame" : "CompletionsFrame";
    const frames = framesOf(stream);
    expect(frames.length, stream.name).toBeGreaterThan(0);
    // One constant for each: a mistake is told with the frame that has it.
    const constants = frames.map(
      (frame, at) => `export const frame${at}: ${type} = ${JSON.stringify(frame)};`,
    );
    const lines = [`// ${stream.name}`, `import type { ${type} } from "./frames.ts";`, ...constants];
    writeFileSync(join(folder, `stream-${index}.ts`), `${lines.join("\n")}\n`);
  }
  const options = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--allowImportingTsExtensions",
  ];
  const files = streams.map((_, index) => `stream-${index}.ts`);
  const printed = await promisify(execFile)(
    process.execPath,
    [join(ROOT, "node_modules/typescript/bin/tsc"), ...options, ...files],
    { cwd: folder },
  ).catch(({ stdout }: { stdout: string }) => ({ stdout }));
  expect(printed.stdout).toBe("");
});

/** What a client of Vercel's makes of a recorded stream: whatever its schema does not take is an error, or is lost. */
async function readBy(
  client: string,
  stream: RecordedStream,
): Promise<{ text: string; calls: number; errors: unknown[] }> {
  const settings = {
    apiKey: "none",
    baseURL: "http://recorded.test",
    fetch: async () => new Response(stream.text, { headers: { "content-type": "text/event-stream" } }),
  };
  const models: Record<string, () => LanguageModel> = {
    "@ai-sdk/openai responses": () => createOpenAI(settings).responses("gpt-5"),
    "@ai-sdk/openai chat": () => createOpenAI(settings).chat("gpt-5"),
    "@ai-sdk/openai-compatible": () =>
      createOpenAICompatible({ ...settings, name: "postern" }).chatModel("gpt-5"),
  };
  const read = { text: "", calls: 0, errors: [] as unknown[] };
  const model = models[client]?.() ?? client;
  const { fullStream } = streamText({ model, prompt: "Hi", maxRetries: 0, onError: () => undefined });
  for await (const part of fullStream) {
    if (part.type === "text-delta") read.text += part.text;
    if (part.type === "tool-call") read.calls += 1;
    // It was given no tools, so it says of each call that it does not know its tool.
    if (part.type === "error") read.errors.push(part.error);
  }
  return read;
}

/** The same by the frames themselves. */
function told(stream: RecordedStream): { text: string; calls: number } {
  const frames = framesOf(stream) as unknown as {
    type?: string;
    delta?: string;
    item?: { type: string };
    choices?: { delta: { content?: string | null; tool_calls?: { id?: string }[] } }[];
  }[];
  const deltas = frames.flatMap(({ choices }) => choices ?? []).map(({ delta }) => delta);
  const spoken = frames.filter(({ type }) => type === "response.output_text.delta").map(({ delta }) => delta);
  const done = frames.filter(({ type }) => type === "response.output_item.done");
  return {
    text: [...spoken, ...deltas.map(({ content }) => content ?? "")].join(""),
    calls:
      done.filter(({ item }) => item?.type.endsWith("_call")).length +
      deltas.flatMap(({ tool_calls = [] }) => tool_calls).filter(({ id }) => id !== undefined).length,
  };
}

test("the schemas of two client libraries take every event", async () => {
  for (const stream of await allStreams()) {
    const clients = isResponses(stream)
      ? ["@ai-sdk/openai responses"]
      : ["@ai-sdk/openai chat", "@ai-sdk/openai-compatible"];
    for (const client of clients) {
      const { errors, ...read } = await readBy(client, stream);
      expect({ ...read, failed: errors.length > 0 }, `${client}, ${stream.name}: ${errors}`).toEqual({
        ...told(stream),
        failed: stream.name.startsWith("failed"),
      });
    }
  }
});
