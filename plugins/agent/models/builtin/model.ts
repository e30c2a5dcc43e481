/**
 * The embedded default: deterministic, offline and without a key, so that the first chat works on a fresh machine.
 * It says what it is, matches requests to tools and answers from what they return.
 */
import { randomUUID } from "node:crypto";
import { setImmediate as breathe } from "node:timers/promises";
import type { Model } from "../model.ts";

const WINDOW = 128_000;

export function createBuiltinModel(options: { readonly now?: () => Date } = {}): Model {
  const now = options.now ?? (() => new Date());
  return {
    name: { provider: "builtin", name: "builtin" },
    window: WINDOW,
    takes: new Set(),
    formats: new Set(),
    async *stream(request, signal) {
      signal.throwIfAborted();
      // Loaded with the first message: the date parser would slow down every start.
      const { decide } = await import("./decide.ts");
      const reply = decide(request, now());
      for (const delta of reply.text.match(/^\s+|\S+\s*/g) ?? []) {
        yield [{ type: "text", delta }];
        // Lets the listener's socket drain and a cancellation arrive between two words.
        await breathe();
        signal.throwIfAborted();
      }
      yield reply.calls.map(({ name, params }) => ({
        type: "call",
        call: { id: `call_${randomUUID().replaceAll("-", "")}`, name, params: JSON.stringify(params) },
      }));
    },
  };
}
