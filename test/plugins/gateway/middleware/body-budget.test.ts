import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { createBodyBudget } from "../../../../plugins/gateway/middleware/body-budget.ts";

const LIMITS = { callerBytes: 100, allBytes: 150, minuteBytes: 1000 };

function sending(budget: ReturnType<typeof createBodyBudget>, caller: string, headers: object, max = 50) {
  const response = new EventEmitter();
  const request = { headers } as IncomingMessage;
  budget.count(caller, request, max);
  budget.hold(caller, request, response as ServerResponse, max);
  return () => response.emit("close");
}
const of = (length: number) => ({ "content-length": String(length) });

test("a body is counted before it is read, until its response is over", () => {
  const budget = createBodyBudget(LIMITS);
  const end = sending(budget, "ann", of(40));
  expect(budget.heldBytes).toBe(40);
  end();
  expect(budget.heldBytes).toBe(0);
});

test("one whose length is not declared counts as the largest, one that is too large as no more", () => {
  const budget = createBodyBudget(LIMITS);
  sending(budget, "ann", { "transfer-encoding": "chunked" });
  sending(budget, "ben", of(10_000));
  sending(budget, "cid", {});
  expect(budget.heldBytes).toBe(100);
});

test("a caller is refused alone, and everybody where all together hold too much", () => {
  const budget = createBodyBudget(LIMITS);
  const ends = [sending(budget, "ann", of(50)), sending(budget, "ann", of(50))];
  expect(() => sending(budget, "ann", of(1))).toThrow("under way");
  sending(budget, "ben", of(50));
  expect(() => sending(budget, "cid", of(1))).toThrow("try again");
  for (const end of ends) end();
  sending(budget, "cid", of(50));
  expect(budget.heldBytes).toBe(100);
});

test("what was refused later counts within the minute as well", () => {
  const budget = createBodyBudget(LIMITS);
  for (let count = 0; count < 20; count++) sending(budget, "ann", of(50))();
  expect(() => sending(budget, "ann", of(1))).toThrow(
    expect.objectContaining({ kind: "limited", retryAfterSecs: 60 }),
  );
  sending(budget, "ben", of(50));
});
