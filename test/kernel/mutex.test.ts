import { expect, test } from "vitest";
import { oneAtATime } from "../../kernel/mutex.ts";

test("work runs one at a time, also where it is asked for between two runs", async () => {
  let running = 0;
  let most = 0;
  const work = oneAtATime(async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  });
  const asked: Promise<void>[] = [];
  for (let count = 0; count < 50; count++) {
    asked.push(work(), work());
    await Promise.resolve();
  }
  await Promise.all(asked);
  expect(most).toBe(1);
});
