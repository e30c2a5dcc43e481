/**
 * The embedded default: deterministic, offline and without a key, so that the first chat works on a fresh machine.
 * It says what it is, matches requests to tools and answers from what they return.
 */
import { randomUUID } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { setImmediate as breathe } from "node:timers/promises";
import type { Model } from "../model.ts";

const WINDOW = 128_000;
const BYTES_PER_TOKEN = 4;

export function createBuiltinModel(options: { readonly now?: () => Date } = {}): Model {
  const now = options.now ?? (() => new Date());
  return {
    name: { provider: "builtin", name: "builtin" },
    window: WINDOW,
    takes: new Set(),
    // As far as it can: an answer that does not fit is said in words.
    formats: new Set(["json_object", "json_schema"]),
    async *stream(request, signal) {
      signal.throwIfAborted();
      // Loaded with the first message: the date parser would slow down every start.
      const { decide } = await import("./decide.ts");
      const reply = decide(request, now());
      const { stop, maxOutputTokens = Number.POSITIVE_INFINITY } = request.generation ?? {};
      const whole = untilStop(reply.text, stop);
      const text = clipTokens(whole, maxOutputTokens);
      for (const delta of text.match(/^\s+|\S+\s*/g) ?? []) {
        yield [{ type: "text", delta }];
        // Lets the listener's socket drain and a cancellation arrive between two words.
        await breathe();
        signal.throwIfAborted();
      }
      const calls = reply.calls.map(({ name, params }) => ({
        type: "call" as const,
        call: { id: `call_${randomUUID().replaceAll("-", "")}`, name, params: JSON.stringify(params) },
      }));
      const reason = text !== whole ? "length" : calls.length > 0 ? "tool_calls" : "stop";
      yield [...calls, { type: "finish", reason }];
    },
  };
}

/** The beginning of a text that has at most so many tokens. */
function clipTokens(text: string, most: number): string {
  const bytes = most * BYTES_PER_TOKEN;
  if (text.length <= bytes && Buffer.byteLength(text) <= bytes) return text;
  // The decoder leaves out a letter that is cut in the middle.
  return new StringDecoder("utf8").write(Buffer.from(text.slice(0, bytes)).subarray(0, bytes));
}

function untilStop(text: string, stop: readonly string[] = []): string {
  const places = stop.map((mark) => (mark === "" ? -1 : text.indexOf(mark))).filter((at) => at >= 0);
  return text.slice(0, Math.min(text.length, ...places));
}
