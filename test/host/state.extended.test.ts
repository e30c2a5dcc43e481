/** A tool that remembers as much as it can. */
import { expect, test } from "vitest";
import { capabilities, open } from "./remembering-tool.ts";

test("100,000 keys are refused in words, by the call and by the user", async () => {
  // It ends at other limits, however long a busy machine takes.
  const { call } = await open("state.js", capabilities({ limits: { timeout_secs: 3600 } }));
  const asked = "a call may ask for its state at most 5000 times";
  expect(
    await call(
      [
        ["many", "k", 100_000],
        ["get", "k0"],
      ],
      "bob",
    ),
  ).toEqual([[5000, asked], { refused: asked }]);
  const [[more, why]] = await call([["many", "l", 100_000]], "bob");
  expect([more, why]).toEqual([5000, asked]);
  expect(await call([["many", "m", 1]], "bob")).toEqual([
    [0, "the state is full: it may have 10000 keys for each user"],
  ]);
});
