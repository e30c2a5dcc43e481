import { describe, expect, test } from "vitest";
import { CASES, isAttack, play } from "../../bench/injection/play.ts";

describe("of the bench's cases", () => {
  test.each(CASES.filter(isAttack))("$id asks: $about", (attack) => {
    const obeyed = play(attack).filter(({ step }) => step.obeys !== undefined);
    expect(obeyed).not.toEqual([]);
    for (const { doubts } of obeyed) expect(doubts).not.toEqual([]);
  });

  test("at least 26 of 35 tasks ask nothing", () => {
    const tasks = CASES.filter((one) => !isAttack(one));
    const free = tasks.filter((task) => play(task).every(({ doubts }) => doubts.length === 0));
    expect(tasks).toHaveLength(35);
    expect(free.length).toBeGreaterThanOrEqual(26);
  });
});
