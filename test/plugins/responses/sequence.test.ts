import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Gate, TurnEvent, TurnItem, TurnRecord } from "../../../kernel/plugin.ts";
import {
  formatItemId,
  formatResponseId,
  parseItemId,
  parseResponseId,
} from "../../../plugins/responses/answer/id.ts";
import { respond, respondWith } from "../../../plugins/responses/answer/response.ts";
import { createSequence } from "../../../plugins/responses/answer/sequence.ts";
import type { OutputItem, StreamEvent } from "../../../plugins/responses/answer/wire.ts";

const ECHO = { previousResponseId: null, instructions: null, temperature: null, tools: [], metadata: {} };
const USAGE = {
  inputTokens: 1,
  outputTokens: 2,
  cachedTokens: 0,
  reasoningTokens: 0,
  inputCost: "0",
  outputCost: "0",
  totalCost: "0",
};

/** A turn that said these messages, each in these pieces, and perhaps called a function at the end. */
function turnOf(
  messages: readonly (readonly string[])[],
  calls: boolean,
): { events: TurnEvent[]; record: TurnRecord } {
  const [id, thread] = [randomUUID(), randomUUID()];
  const at = new Date().toISOString();
  const items = messages.map(
    (pieces): TurnItem => ({ type: "message", id: randomUUID(), role: "assistant", text: pieces.join("") }),
  );
  const call = { id: "call_1", name: "find", params: "{}" };
  const gate: Gate = { type: "external_tool", id: randomUUID(), turn: id, thread, openedAt: at, call };
  const record: TurnRecord = {
    id,
    thread,
    user: "ada",
    channel: "responses",
    status: calls ? "waiting" : "completed",
    input: { type: "message", text: "Hi" },
    items,
    ...(calls && { gate }),
    model: { provider: "test", name: "test" },
    usage: USAGE,
    createdAt: at,
    completedAt: at,
  };
  const said = messages.flatMap((pieces, index) =>
    pieces.map((delta): TurnEvent => ({ type: "text", item: items[index]?.id ?? "", delta })),
  );
  const done: TurnEvent = { type: "done", status: calls ? "waiting" : "completed", record };
  return { record, events: [{ type: "started", turn: id, thread, model: record.model }, ...said, done] };
}

/** What a client makes of a stream; anything out of order is an error. */
function accumulate(events: readonly StreamEvent[]): readonly OutputItem[] {
  const open = new Map<number, { id: string; text: string; finished?: string }>();
  const done: OutputItem[] = [];
  const at = (index: number, id: string) => {
    const item = open.get(index);
    if (item?.id !== id) throw new Error(`no item ${id} is open at ${index}`);
    return item;
  };
  for (const event of events) {
    if (event.type === "response.output_item.added") {
      if (open.size > 0 || event.output_index !== done.length)
        throw new Error("a gap or an overlap of items");
      open.set(event.output_index, { id: event.item.id, text: "" });
    } else if (event.type === "response.output_item.done") {
      const { text, finished } = at(event.output_index, event.item.id);
      if (text !== finished) throw new Error("the deltas are not the text");
      open.delete(event.output_index);
      done.push(event.item);
    } else if ("delta" in event) at(event.output_index, event.item_id).text += event.delta;
    else if (event.type === "response.output_text.done")
      at(event.output_index, event.item_id).finished = event.text;
    else if (event.type === "response.function_call_arguments.done")
      at(event.output_index, event.item_id).finished = event.arguments;
  }
  if (open.size > 0) throw new Error("an item stayed open");
  return done;
}

const turns = fc.tuple(
  fc.array(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
  fc.boolean(),
);

test("§4.3 whatever a turn says, its events make the same items as the response, live and replayed", () => {
  fc.assert(
    fc.property(turns, ([messages, calls]) => {
      const { events, record } = turnOf(messages, calls);
      const finish = (ended: TurnRecord) => respondWith(ended, "any", ECHO, () => "");
      const head = respond({ turn: record.id, thread: record.thread }, "any", ECHO, {
        status: "in_progress",
        createdAt: 0,
      });
      const live = createSequence(record.id, head, finish);
      const replayed = createSequence(record.id, head, finish);
      for (const stream of [
        [...live.open(), ...events.flatMap((event) => live.next(event))],
        [...replayed.open(), ...replayed.replay(record)],
      ]) {
        const last = stream.at(-1);
        if (last?.type !== "response.completed") throw new Error(`it ends with ${last?.type}`);
        const { output } = last.response;
        expect(accumulate(stream)).toEqual(output);
        expect(output.findIndex(({ type }) => type === "function_call")).toBe(calls ? output.length - 1 : -1);
      }
    }),
  );
});

test("§2.5 ids are read back as they were written, and nothing else is read as one", () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.uuid(),
      fc.integer({ min: 0, max: 0xffff }),
      fc.string(),
      (turn, thread, index, other) => {
        expect(parseResponseId(formatResponseId({ turn, thread }))).toEqual({ turn, thread });
        expect(parseItemId(formatItemId("msg", turn, index))).toEqual({ turn, index });
        expect(parseResponseId(other)).toBeUndefined();
        expect(parseItemId(other)).toBeUndefined();
      },
    ),
  );
});
