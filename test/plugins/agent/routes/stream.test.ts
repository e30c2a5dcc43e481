import fc from "fast-check";
import { expect, test } from "vitest";
import type { TurnEvent, TurnRecord } from "../../../../kernel/plugin.ts";
import {
  openStream,
  type ReadPosition,
  type UserStream,
  type Watch,
} from "../../../../plugins/agent/routes/stream.ts";

const model = { provider: "test", name: "test" };
const text = (delta: string): TurnEvent => ({ type: "text", item: "i", delta });
const record = { usage: {}, items: [] } as unknown as TurnRecord;

/** A stream fed by hand. */
function open(bounds: { entries: number; bytes: number }) {
  let tell: Parameters<Watch>[0] = () => {};
  const watch: Watch = (listener) => {
    tell = listener;
    return () => {};
  };
  const stream = openStream(watch, () => {}, bounds);
  return { stream, emit: (turn: string, event: TurnEvent) => tell(event, { id: turn, thread: "t" }) };
}

function readAll(stream: UserStream, place: ReadPosition): readonly number[] | "lost" {
  const ids: number[] = [];
  for (let entry = stream.next(place); entry !== undefined; entry = stream.next(place)) {
    if (entry === "lost") return "lost";
    ids.push(entry.id);
  }
  return ids;
}

const step = fc.oneof(
  fc.record({ do: fc.constant("emit" as const), size: fc.integer({ min: 0, max: 200 }) }),
  fc.record({ do: fc.constant("read" as const), size: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ do: fc.constant("drop" as const), size: fc.constant(0) }),
);

test("a reader that drops and resumes at any moment reads every number once, or is told that some are lost", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (steps, entries) => {
      const { stream, emit } = open({ entries, bytes: 4000 });
      let place = stream.begin();
      let read: number[] = [];
      for (const { do: what, size } of steps) {
        if (what === "emit") emit("turn", text("x".repeat(size)));
        if (what === "drop") {
          const resumed = stream.resume(place.at);
          if (resumed === undefined) read = [];
          place = resumed ?? stream.begin();
          if (read.length === 0) read = [place.at];
        }
        for (let left = what === "read" ? size : 0; left > 0; left--) {
          const entry = stream.next(place);
          if (entry === "lost") {
            expect(stream.resume(place.at)).toBeUndefined();
            break;
          }
          if (entry !== undefined) read.push(entry.id);
        }
        for (let at = 1; at < read.length; at++) expect(read[at]).toBe((read[at - 1] as number) + 1);
      }
    }),
    { numRuns: 300 },
  );
});

test("a new reader sees the turns that run from their start, and nothing of those that ended", () => {
  const { stream, emit } = open({ entries: 100, bytes: 100_000 });
  emit("ended", { type: "started", turn: "ended", thread: "t", model });
  emit("running", { type: "started", turn: "running", thread: "t", model });
  emit("ended", text("a"));
  emit("running", text("b"));
  emit("ended", { type: "done", status: "completed", record });
  const place = stream.begin();
  expect(place.at).toBe(1);
  expect(readAll(stream, place)).toEqual([2, 4]);
  emit("other", { type: "started", turn: "other", thread: "t", model });
  expect(readAll(stream, place)).toEqual([6]);
});

test("however much happens, no more is kept than the bounds say", () => {
  const { stream, emit } = open({ entries: 10, bytes: 1_000_000 });
  const late = stream.begin();
  for (let at = 0; at < 5000; at++) emit("turn", text("x"));
  expect(stream.resume(4989)).toBeUndefined();
  expect(readAll(stream, stream.resume(4990) as ReadPosition)).toHaveLength(10);
  expect(readAll(stream, late)).toBe("lost");
});
