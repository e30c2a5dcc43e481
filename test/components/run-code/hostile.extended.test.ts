/** Code that does not end by itself: it takes until a limit, so it is not in the everyday run. */
import { expect, test } from "vitest";
import { openRunCode } from "./runner.ts";

test("a loop, a flood of promises and a memory bomb end in words", async () => {
  const { result } = await openRunCode(10);
  const late = "The tool did not answer within 10 seconds and was ended.";
  expect(
    await Promise.all([
      result("for (;;);"),
      result("while (true) await null"),
      result(
        "const flood = () => { Promise.resolve().then(flood); Promise.resolve().then(flood) }; flood(); await new Promise(() => {})",
      ),
    ]),
  ).toEqual([
    late,
    expect.stringMatching(/did not answer within|out of/),
    expect.stringMatching(/did not answer within|out of/),
  ]);
  // A busy machine may take minutes to fill the memory.
  const patient = await openRunCode(3600);
  const fill = "const all = []; for (;;) all.push";
  expect(await patient.result(`${fill}(new Array(100_000).fill(1))`)).toMatch(/ran out of/);
  expect(await patient.result(`${fill}({})`)).toMatch(/ran out of/);
  expect(await patient.result("1 + 1")).toMatchObject({ value: 2 });
});
