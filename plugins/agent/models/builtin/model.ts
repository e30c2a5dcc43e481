/**
 * The embedded default: deterministic, offline, without a key, so that the first chat works on a fresh machine.
 * It says what it is; it matches requests to tools and answers from what they give.
 */
import { randomUUID } from "node:crypto";
import { setImmediate as breathe } from "node:timers/promises";
import type { Model, ModelMessage, ModelRequest } from "../model.ts";

const WINDOW = 128_000;
const CHARACTERS_PER_TOKEN = 4;

export function createBuiltinModel(options: { readonly now?: () => Date } = {}): Model {
  const now = options.now ?? (() => new Date());
  return {
    name: { provider: "builtin", name: "builtin" },
    window: WINDOW,
    async *stream(request, signal) {
      signal.throwIfAborted();
      // Loaded with the first message: the schema validator would slow down every start.
      const { decide } = await import("./decide.ts");
      const reply = decide(request, now());
      for (const delta of deltasOf(reply.text)) {
        yield [{ type: "text", delta }];
        // Lets the listener's socket drain and a cancellation arrive between two words.
        await breathe();
        signal.throwIfAborted();
      }
      const calls = reply.calls.map(({ name, params }) => ({
        id: `call_${randomUUID().replaceAll("-", "")}`,
        name,
        params: JSON.stringify(params),
      }));
      const written = calls.reduce(
        (sum, { name, params }) => sum + name.length + params.length,
        reply.text.length,
      );
      yield [
        ...calls.map((call) => ({ type: "call", call }) as const),
        {
          type: "usage",
          inputTokens: tokens(lengthOf(request)),
          outputTokens: tokens(written),
          cachedTokens: 0,
          reasoningTokens: 0,
        },
      ];
    },
  };
}

function deltasOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [];
}

function tokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

function lengthOf(request: ModelRequest): number {
  const messages = request.messages.reduce((sum, message) => sum + sizeOf(message), 0);
  const tools = request.tools.reduce((sum, tool) => sum + tool.name.length + tool.description.length, 0);
  return request.system.length + messages + tools;
}

function sizeOf(message: ModelMessage): number {
  switch (message.role) {
    case "user":
      return message.text.length;
    case "assistant":
      return message.text.length + message.calls.reduce((sum, call) => sum + call.params.length, 0);
    case "tool":
      return message.output.length;
  }
}
