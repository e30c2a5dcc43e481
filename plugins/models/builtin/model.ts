/** The embedded default: deterministic, offline and without a key, so that the first chat works on a fresh machine. */

import { randomUUID } from "node:crypto";
import { setImmediate as breathe } from "node:timers/promises";
import type { Model } from "../services.ts";

export function createBuiltinModel({ now = () => new Date() }: { readonly now?: () => Date } = {}): Model {
  return {
    name: { provider: "builtin", name: "builtin" },
    window: 128_000,
    takes: new Set(),
    answersLastOnly: true,
    // As far as it can: an answer that does not fit is said in words.
    formats: new Set(["json_object", "json_schema"]),
    async *stream(request, signal) {
      signal.throwIfAborted();
      // Loaded with the first message: the date parser would slow down every start.
      const { decide } = await import("./decide.ts");
      const reply = decide(request, now());
      const { stop = [], maxOutputTokens = Number.POSITIVE_INFINITY } = request.generation ?? {};
      const ends = stop.map((mark) => (mark === "" ? -1 : reply.text.indexOf(mark))).filter((at) => at >= 0);
      const whole = reply.text.slice(0, Math.min(reply.text.length, ...ends));
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
      const end = calls.length > 0 ? "tool_calls" : reply.isUnable ? "unable" : "stop";
      const reason = text !== whole ? "length" : end;
      yield [...calls, { type: "finish", reason }];
    },
  };
}

/** Returns the beginning of a text that has at most so many tokens. */
function clipTokens(text: string, max: number): string {
  const bytes = max * 4;
  if (text.length <= bytes && Buffer.byteLength(text) <= bytes) return text;
  const start = Buffer.from(text.slice(0, bytes)).subarray(0, bytes);
  // A stream waits for the rest of a letter that is cut in the middle, and so leaves it out.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(start, { stream: true });
}
