import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Gate, TurnEvent, TurnItem, TurnRecord } from "../../../../kernel/plugin.ts";
import type { View } from "../../../../plugins/responses/answer/output.ts";
import { respond, respondWith } from "../../../../plugins/responses/answer/response.ts";
import { createSequence } from "../../../../plugins/responses/answer/sequence.ts";
import type { OutputItem, StreamEvent } from "../../../../plugins/responses/wire/format.ts";
import {
  formatItemId,
  formatResponseId,
  parseItemId,
  parseResponseId,
} from "../../../../plugins/responses/wire/id.ts";

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

interface Said {
  readonly kind: "message" | "reasoning";
  readonly pieces: readonly string[];
}

/** A turn that said or thought this, each in these pieces, and perhaps called functions at the end. */
function turnOf(said: readonly Said[], calls: number): { events: TurnEvent[]; record: TurnRecord } {
  const [id, thread] = [randomUUID(), randomUUID()];
  const at = new Date().toISOString();
  const items = said.map(({ kind, pieces }): TurnItem => {
    const text = pieces.join("");
    return kind === "message"
      ? { type: kind, id: randomUUID(), role: "assistant", text, pieces: pieces.map(({ length }) => length) }
      : { type: kind, id: randomUUID(), text, pieces: pieces.map(({ length }) => length) };
  });
  const [call, ...others] = Array.from({ length: calls }, (_, index) =>
    index % 2 === 0
      ? { id: `call_${index}`, name: "find", params: "{}" }
      : { id: `call_${index}`, name: "patch", params: '{"input":"*** Begin"}' },
  );
  const gate: Gate | undefined = call && {
    type: "external_tool",
    id: randomUUID(),
    turn: id,
    thread,
    openedAt: at,
    call,
    others,
  };
  const record: TurnRecord = {
    id,
    thread,
    user: "ada",
    channel: "responses",
    status: gate ? "waiting" : "completed",
    input: { type: "message", text: "Hi" },
    items,
    ...(gate && { gate }),
    model: { provider: "test", name: "test" },
    usage: USAGE,
    createdAt: at,
    completedAt: at,
  };
  const told = said.flatMap(({ kind, pieces }, index) =>
    pieces.map(
      (delta): TurnEvent => ({
        type: kind === "message" ? "text" : "reasoning",
        item: items[index]?.id ?? "",
        delta,
      }),
    ),
  );
  const done: TurnEvent = { type: "done", status: gate ? "waiting" : "completed", record };
  return { record, events: [{ type: "started", turn: id, thread, model: record.model }, ...told, done] };
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
    else if (
      event.type === "response.output_text.done" ||
      event.type === "response.reasoning_summary_text.done"
    )
      at(event.output_index, event.item_id).finished = event.text;
    else if (event.type === "response.function_call_arguments.done")
      at(event.output_index, event.item_id).finished = event.arguments;
    else if (event.type === "response.custom_tool_call_input.done")
      at(event.output_index, event.item_id).finished = event.input;
  }
  if (open.size > 0) throw new Error("an item stayed open");
  return done;
}

const pieces = fc.array(fc.string(), { minLength: 1, maxLength: 4 });
const messages = fc.array(fc.record({ kind: fc.constant("message" as const), pieces }), { maxLength: 4 });
const thoughts = fc.array(
  fc.record({ kind: fc.constantFrom("message" as const, "reasoning" as const), pieces }),
  { maxLength: 5 },
);

function streamsOf(said: readonly Said[], calls: number, view: View) {
  const { events, record } = turnOf(said, calls);
  const finish = (ended: TurnRecord) => respondWith(ended, "any", ECHO, view, () => "");
  const head = respond({ turn: record.id, thread: record.thread }, "any", ECHO, view.isOpen, {
    status: "in_progress",
    createdAt: 0,
  });
  const live = createSequence(record.id, head, view, finish);
  const replayed = createSequence(record.id, head, view, finish);
  return {
    live: [...live.open(), ...events.flatMap((event) => live.next(event))],
    replayed: [...replayed.open(), ...replayed.replay(record)],
  };
}

function outputOf(stream: readonly StreamEvent[]): readonly OutputItem[] {
  const last = stream.at(-1);
  if (last?.type !== "response.completed") throw new Error(`it ends with ${last?.type}`);
  return last.response.output;
}

test("§4.3 whatever a turn says, its events make the same items as the response, live and replayed", () => {
  fc.assert(
    fc.property(messages, fc.boolean(), (said, calls) => {
      const { live, replayed } = streamsOf(said, calls ? 1 : 0, { isOpen: false, tools: [] });
      for (const stream of [live, replayed]) {
        const output = outputOf(stream);
        expect(accumulate(stream)).toEqual(output);
        expect(output.findIndex(({ type }) => type === "function_call")).toBe(calls ? output.length - 1 : -1);
      }
    }),
  );
});

test("in the open dialect reasoning and several calls of any kind make the same items too", () => {
  const view: View = {
    isOpen: true,
    tools: [{ type: "custom", name: "patch" }],
    seal: (text) => `sealed ${text.length}`,
  };
  fc.assert(
    fc.property(thoughts, fc.integer({ min: 0, max: 3 }), (said, calls) => {
      const { live, replayed } = streamsOf(said, calls, view);
      for (const stream of [live, replayed]) {
        const output = outputOf(stream);
        expect(accumulate(stream)).toEqual(output);
        expect(output.filter(({ type }) => type.endsWith("_call"))).toHaveLength(calls);
      }
      expect(new Set(outputOf(live).map(({ id }) => id)).size).toBe(outputOf(live).length);
    }),
  );
});

test("a message that remembers its pieces is told again in the same events, under the same numbers", () => {
  const spoken = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 });
  const turns = fc.array(
    fc.record({ kind: fc.constantFrom("message" as const, "reasoning" as const), pieces: spoken }),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(turns, fc.integer({ min: 0, max: 2 }), (said, calls) => {
      const { live, replayed } = streamsOf(said, calls, { isOpen: true, tools: [] });
      expect(replayed).toEqual(live);
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

test("the sources of an answer are citations of its last text, in the open dialect", () => {
  const text = "See https://a.example/x for more.";
  const { events, record } = turnOf([{ kind: "message", pieces: [text] }], 0);
  const sources = ["https://a.example/x", "https://b.example/"].map((url) => ({ url, title: "Mills" }));
  const outcome = { status: "ok", output: JSON.stringify({ sources }) } as const;
  const items: TurnItem[] = [{ type: "tool_result", id: "r", call: "c", outcome }, ...record.items];
  const cited = { ...record, items };
  const told = events.map((event) => (event.type === "done" ? { ...event, record: cited } : event));
  for (const isOpen of [true, false]) {
    const view = { isOpen, tools: [] };
    const finish = (ended: TurnRecord) => respondWith(ended, "any", ECHO, view, () => "");
    const head = respond({ turn: record.id, thread: record.thread }, "any", ECHO, isOpen, {
      status: "in_progress",
      createdAt: 0,
    });
    const stream = told.flatMap(createSequence(record.id, head, view, finish).next);
    const expected = [
      { type: "url_citation", url: "https://a.example/x", title: "Mills", start_index: 4, end_index: 23 },
      { type: "url_citation", url: "https://b.example/", title: "Mills", start_index: 33, end_index: 33 },
    ];
    const added = stream.flatMap((event) =>
      event.type === "response.output_text.annotation.added" ? [event.annotation] : [],
    );
    expect(added).toEqual(isOpen ? expected : []);
    expect(accumulate(stream)).toEqual(outputOf(stream));
    expect(outputOf(stream)[0]).toMatchObject({ content: [{ text, annotations: isOpen ? expected : [] }] });
  }
});
