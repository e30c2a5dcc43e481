import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createPacing } from "../../../../plugins/gateway/middleware/pace.ts";
import { moveTime } from "../../../support/clock/moved-time.ts";

const MIB = 2 ** 20;

test("one who has sent or been sent a lot waits until it has worn off, and nobody else does", async () => {
  const { advance } = moveTime(onTestFinished);
  const pacing = createPacing();
  pacing.count("ann", 15 * MIB);
  await pacing.wait("ann");
  pacing.count("ann", 13 * MIB);
  let hasWaited = false;
  const waiting = pacing.wait("ann").then(() => {
    hasWaited = true;
  });
  await pacing.wait("ben");
  await advance(1000);
  expect(hasWaited).toBe(false);
  await advance(2000);
  await waiting;
});

test("however much was counted, a request waits ten seconds at most", async () => {
  const { advance } = moveTime(onTestFinished);
  const pacing = createPacing();
  pacing.count("ann", 10_000 * MIB);
  const waiting = pacing.wait("ann");
  await advance(10_000);
  await waiting;
});

test("three of a user's are done at once, the others in their order, also when one fails", async () => {
  const pacing = createPacing();
  const begun: number[] = [];
  const ends: PromiseWithResolvers<void>[] = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
  const work = ends.map(({ promise }, at) =>
    pacing.inTurn("ann", () => {
      begun.push(at);
      return promise;
    }),
  );
  expect(begun).toEqual([0, 1, 2]);
  await pacing.inTurn("ben", async () => {});
  ends[1]?.reject(new Error("it failed"));
  await expect(work[1]).rejects.toThrow("it failed");
  ends[0]?.resolve();
  await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  for (const { resolve } of ends) resolve();
  await Promise.allSettled(work);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  await pacing.inTurn("ann", async () => {});
});
